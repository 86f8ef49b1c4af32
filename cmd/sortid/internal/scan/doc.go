// Package scan finds IDs in files, and prints them or sorts lines by them.
//
// testdata/scan.json and contexts.json have cases of these rules for all implementations. In a typed ID, such as
// user_0372ijojuxuhjsfkeryi2mrtm, scan finds the ID behind the prefix.
//
// A run is a sequence of letters A-Z a-z and digits, as long as possible. A run's length decides
// which format it can have. A format is named if it is in --format.
//
//	12               scru64, if it begins with 0 (always until 2033), but not with 0x. Capitals are
//	                 allowed only if scru64 is named. A run of 12 can also end a UUID
//	16, 24, 32, 40   hexadecimal, if all characters are hexadecimal digits
//	18, 26, 34, 42   hexadecimal, after 0x or 0X
//	17, 25, 33, 41   hexadecimal, after \x; the run begins with the x
//	20               xid, if it has no capitals
//	25               scru128
//	26               TypeID, after _ and a prefix; otherwise ULID, if it begins with 01
//	27               euid; or KSUID, if it has letters of both cases
//	32               scru160
//
// These rules decide whether the run is an ID:
//
//  1. All letters must have the same case, except in UUIDs and KSUIDs. If a run has more than 16
//     characters, and all are hexadecimal digits, it can only be a number or a hash.
//     If no format is named, the run must have a digit, because words have none.
//  2. The format's own rules must hold, such as check symbols, and the time must be plausible. An
//     EUID must have version bits 0.
//  3. A scru64, an xid or a KSUID does not count inside Base64 text. The digits and letters of a
//     KSUID must alternate as often as in random text.
//  4. A UUID must have hyphens at offsets 8, 13, 18 and 23. It is read as the first format that
//     fits: a UUID of RFC 9562 with version 1, 6 or 7; scru128; euid.
//  5. A hexadecimal number of 16 digits is read as scru64, and a number of 40 digits as scru160. A
//     number of 32 digits is read as the first format that fits: a UUID with a time; a trace ID of
//     Datadog; scru128; euid. A number of 24 digits is an ObjectID, but only shortly after a word
//     that ends with "id".
//  6. Hashes look like the numbers of 16, 32 and 40 digits. Such a number is an ID if its time is
//     plausible. Other numbers of the same length must have plausible times, too: all of the latest
//     ones, or at least two and half of them. scan says how many IDs it left out by this rule. The
//     rule is also for KSUIDs, and for UUIDs without version 1, 6 or 7.
//  7. If formats are named, scan looks only for these formats. Then it also finds integers of these
//     formats, and texts with - and _. Rule 6 does not apply.
//  8. If the help of scan does not list a format, scan finds its IDs only if the format is named. If
//     a format's alphabet has - or _, an ID must have letters of both cases, or a digit that is not
//     its first character. scan finds no IDs in such an ID.
//  9. A run may begin with the end of an escape, such as %2F, \n, #012, or ESC[32m. Then the ID begins
//     behind it. Package spec has a table of escapes. Decimal digits behind a decimal point or a minus
//     sign, or before a point and a digit, are no ID.
package scan
