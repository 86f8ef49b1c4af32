// IDs of 128 bits have a UUID.
import { BasicID } from "./basic.js";

export class UUID extends BasicID {
  get uuid() { return this.hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"); }
}
