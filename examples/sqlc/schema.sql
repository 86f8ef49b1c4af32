CREATE TABLE IF NOT EXISTS events (
  id   uuid PRIMARY KEY,
  what text NOT NULL
);
