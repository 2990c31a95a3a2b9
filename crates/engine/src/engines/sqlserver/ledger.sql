IF OBJECT_ID(N'proofload_ledger') IS NULL
CREATE TABLE proofload_ledger (op bigint NOT NULL PRIMARY KEY, at datetime2 NOT NULL DEFAULT sysutcdatetime())
