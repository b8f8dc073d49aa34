-- The table of TopCoder's ID Generator, and a sequence in it. idsmith adds invisible columns at its first use.
CREATE TABLE id_sequences (
  name VARCHAR2(255) NOT NULL PRIMARY KEY,
  next_block_start NUMBER(19) NOT NULL,
  block_size NUMBER(10) NOT NULL,
  exhausted NUMBER(1) DEFAULT 0 NOT NULL
);
INSERT INTO id_sequences VALUES ('invoices', 10000, 20, 0);
