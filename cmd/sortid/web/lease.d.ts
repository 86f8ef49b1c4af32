export interface LeaseOptions {
  /** What the server wants to see, if it uses tokens. */
  token?: string;
  /** How long before the lease's end the program must stop, in milliseconds; default 1000. */
  ahead?: number;
  /** How long to try if the server is away or has no free node ID, in milliseconds; default 30000. */
  patience?: number;
  /** Is called when the program must stop, with the reason. */
  onEnd?: (problem: string) => void;
}

export interface Lease {
  readonly nodeId: number;
  /** The end of the lease in Unix milliseconds. */
  readonly validUntil: number;
  /**
   * Whether the program may use nodeId now. Ask before each ID: a program does not notice that it
   * stood still. Other processes and workers need their own leases.
   */
  held(): boolean;
  /**
   * Gives the node ID back. Make no ID after that, whether or not the server answers. The node ID
   * is free after lastTime, the time of the last ID in Unix milliseconds, or else when the lease
   * would have ended.
   */
  release(lastTime?: number): Promise<void>;
}

/**
 * Leases a node ID of a realm from a server ("sortid serve"), and renews the lease. Returns when the
 * program may use the node ID. The promise fails if no lease is granted.
 */
export declare function acquire(url: string, realm: string, options?: LeaseOptions): Promise<Lease>;
