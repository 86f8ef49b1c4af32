-- Base36, for the texts of scru64 and scru128.

CREATE OR REPLACE FUNCTION sortid.base36_pairs() RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN bytea
  '000102030405060708090a0b0c0d0e0f0g0h0i0j0k0l0m0n0o0p0q0r0s0t0u0v0w0x0y0z'
  '101112131415161718191a1b1c1d1e1f1g1h1i1j1k1l1m1n1o1p1q1r1s1t1u1v1w1x1y1z'
  '202122232425262728292a2b2c2d2e2f2g2h2i2j2k2l2m2n2o2p2q2r2s2t2u2v2w2x2y2z'
  '303132333435363738393a3b3c3d3e3f3g3h3i3j3k3l3m3n3o3p3q3r3s3t3u3v3w3x3y3z'
  '404142434445464748494a4b4c4d4e4f4g4h4i4j4k4l4m4n4o4p4q4r4s4t4u4v4w4x4y4z'
  '505152535455565758595a5b5c5d5e5f5g5h5i5j5k5l5m5n5o5p5q5r5s5t5u5v5w5x5y5z'
  '606162636465666768696a6b6c6d6e6f6g6h6i6j6k6l6m6n6o6p6q6r6s6t6u6v6w6x6y6z'
  '707172737475767778797a7b7c7d7e7f7g7h7i7j7k7l7m7n7o7p7q7r7s7t7u7v7w7x7y7z'
  '808182838485868788898a8b8c8d8e8f8g8h8i8j8k8l8m8n8o8p8q8r8s8t8u8v8w8x8y8z'
  '909192939495969798999a9b9c9d9e9f9g9h9i9j9k9l9m9n9o9p9q9r9s9t9u9v9w9x9y9z'
  'a0a1a2a3a4a5a6a7a8a9aaabacadaeafagahaiajakalamanaoapaqarasatauavawaxayaz'
  'b0b1b2b3b4b5b6b7b8b9babbbcbdbebfbgbhbibjbkblbmbnbobpbqbrbsbtbubvbwbxbybz'
  'c0c1c2c3c4c5c6c7c8c9cacbcccdcecfcgchcicjckclcmcncocpcqcrcsctcucvcwcxcycz'
  'd0d1d2d3d4d5d6d7d8d9dadbdcdddedfdgdhdidjdkdldmdndodpdqdrdsdtdudvdwdxdydz'
  'e0e1e2e3e4e5e6e7e8e9eaebecedeeefegeheiejekelemeneoepeqereseteuevewexeyez'
  'f0f1f2f3f4f5f6f7f8f9fafbfcfdfefffgfhfifjfkflfmfnfofpfqfrfsftfufvfwfxfyfz'
  'g0g1g2g3g4g5g6g7g8g9gagbgcgdgegfggghgigjgkglgmgngogpgqgrgsgtgugvgwgxgygz'
  'h0h1h2h3h4h5h6h7h8h9hahbhchdhehfhghhhihjhkhlhmhnhohphqhrhshthuhvhwhxhyhz'
  'i0i1i2i3i4i5i6i7i8i9iaibicidieifigihiiijikiliminioipiqirisitiuiviwixiyiz'
  'j0j1j2j3j4j5j6j7j8j9jajbjcjdjejfjgjhjijjjkjljmjnjojpjqjrjsjtjujvjwjxjyjz'
  'k0k1k2k3k4k5k6k7k8k9kakbkckdkekfkgkhkikjkkklkmknkokpkqkrksktkukvkwkxkykz'
  'l0l1l2l3l4l5l6l7l8l9lalblcldlelflglhliljlklllmlnlolplqlrlsltlulvlwlxlylz'
  'm0m1m2m3m4m5m6m7m8m9mambmcmdmemfmgmhmimjmkmlmmmnmompmqmrmsmtmumvmwmxmymz'
  'n0n1n2n3n4n5n6n7n8n9nanbncndnenfngnhninjnknlnmnnnonpnqnrnsntnunvnwnxnynz'
  'o0o1o2o3o4o5o6o7o8o9oaobocodoeofogohoiojokolomonooopoqorosotouovowoxoyoz'
  'p0p1p2p3p4p5p6p7p8p9papbpcpdpepfpgphpipjpkplpmpnpopppqprpsptpupvpwpxpypz'
  'q0q1q2q3q4q5q6q7q8q9qaqbqcqdqeqfqgqhqiqjqkqlqmqnqoqpqqqrqsqtquqvqwqxqyqz'
  'r0r1r2r3r4r5r6r7r8r9rarbrcrdrerfrgrhrirjrkrlrmrnrorprqrrrsrtrurvrwrxryrz'
  's0s1s2s3s4s5s6s7s8s9sasbscsdsesfsgshsisjskslsmsnsospsqsrssstsusvswsxsysz'
  't0t1t2t3t4t5t6t7t8t9tatbtctdtetftgthtitjtktltmtntotptqtrtstttutvtwtxtytz'
  'u0u1u2u3u4u5u6u7u8u9uaubucudueufuguhuiujukulumunuoupuqurusutuuuvuwuxuyuz'
  'v0v1v2v3v4v5v6v7v8v9vavbvcvdvevfvgvhvivjvkvlvmvnvovpvqvrvsvtvuvvvwvxvyvz'
  'w0w1w2w3w4w5w6w7w8w9wawbwcwdwewfwgwhwiwjwkwlwmwnwowpwqwrwswtwuwvwwwxwywz'
  'x0x1x2x3x4x5x6x7x8x9xaxbxcxdxexfxgxhxixjxkxlxmxnxoxpxqxrxsxtxuxvxwxxxyxz'
  'y0y1y2y3y4y5y6y7y8y9yaybycydyeyfygyhyiyjykylymynyoypyqyrysytyuyvywyxyyyz'
  'z0z1z2z3z4z5z6z7z8z9zazbzczdzezfzgzhzizjzkzlzmznzozpzqzrzsztzuzvzwzxzyzz';
COMMENT ON FUNCTION sortid.base36_pairs() IS
'The two Base36 digits of each number from 0 to 1295.';

-- The lines with digits are for 0-9, A-Z and a-z.
CREATE OR REPLACE FUNCTION sortid.base36_values() RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN bytea
  '\x00010203040506070809'
  '00000000000000'
  '0a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223'
  '000000000000'
  '0a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223';
COMMENT ON FUNCTION sortid.base36_values() IS
'The values of the Base36 digits. The offset of a value is the digit''s ASCII code minus 48.';

CREATE OR REPLACE FUNCTION sortid.base36_value(digits bytea, i int) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN get_byte(sortid.base36_values(), get_byte(digits, i) - 48)::bigint;
COMMENT ON FUNCTION sortid.base36_value(bytea, int) IS
'The value of the Base36 digit at an offset. The byte there must be such a digit.';

CREATE OR REPLACE FUNCTION sortid.base36_text(n bigint) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN encode(
     substr(sortid.base36_pairs(), 1 + 2 * (n / 3656158440062976)::int, 2)     -- 36^10
  || substr(sortid.base36_pairs(), 1 + 2 * (n / 2821109907456 % 1296)::int, 2) -- 36^8
  || substr(sortid.base36_pairs(), 1 + 2 * (n / 2176782336 % 1296)::int, 2)    -- 36^6
  || substr(sortid.base36_pairs(), 1 + 2 * (n / 1679616 % 1296)::int, 2)       -- 36^4
  || substr(sortid.base36_pairs(), 1 + 2 * (n / 1296 % 1296)::int, 2)          -- 36^2
  || substr(sortid.base36_pairs(), 1 + 2 * (n % 1296)::int, 2), 'escape');
COMMENT ON FUNCTION sortid.base36_text(bigint) IS
'The twelve Base36 digits of a number. It must be from 0 to 36^12 - 1.';

CREATE OR REPLACE FUNCTION sortid.base36_number(digits bytea, i int) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ((((((((((
    sortid.base36_value(digits, i) * 36
  + sortid.base36_value(digits, i + 1)) * 36
  + sortid.base36_value(digits, i + 2)) * 36
  + sortid.base36_value(digits, i + 3)) * 36
  + sortid.base36_value(digits, i + 4)) * 36
  + sortid.base36_value(digits, i + 5)) * 36
  + sortid.base36_value(digits, i + 6)) * 36
  + sortid.base36_value(digits, i + 7)) * 36
  + sortid.base36_value(digits, i + 8)) * 36
  + sortid.base36_value(digits, i + 9)) * 36
  + sortid.base36_value(digits, i + 10)) * 36
  + sortid.base36_value(digits, i + 11);
COMMENT ON FUNCTION sortid.base36_number(bytea, int) IS
'The number of the twelve Base36 digits from an offset on. The bytes there must be such digits.';
