CREATE TABLE IF NOT EXISTS events (
  id   uuid PRIMARY KEY DEFAULT sortid.scru128_new(),
  what text NOT NULL
);
