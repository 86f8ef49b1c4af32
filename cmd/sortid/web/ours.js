// Generated from the Go package format by "go generate"; do not edit.
import { complete } from "./id.js";
import { scru64 as basic_scru64 } from "./ours/scru64.js";
import { scru128 as basic_scru128 } from "./ours/scru128.js";
import { scru160 as basic_scru160 } from "./ours/scru160.js";
import { euid as basic_euid } from "./ours/euid.js";
import { uid60 as basic_uid60 } from "./ours/uid60.js";

export const scru64 = complete(basic_scru64);
export const scru128 = complete(basic_scru128);
export const scru160 = complete(basic_scru160);
export const euid = complete(basic_euid);
export const uid60 = complete(basic_uid60);
export const ours = [scru64, scru128, scru160, euid, uid60];
