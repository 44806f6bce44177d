BEGIN TRANSACTION;
CREATE TABLE due (
            queue TEXT NOT NULL, item TEXT NOT NULL, due_us INTEGER NOT NULL, body BLOB NOT NULL, token TEXT,
            attempts INTEGER NOT NULL,
            PRIMARY KEY (queue, item)) WITHOUT ROWID;
INSERT INTO "due" VALUES('q','i',1741608000000000,X'776879',NULL,2);
CREATE TABLE entries (
            key_id INTEGER NOT NULL REFERENCES keys ON DELETE CASCADE,
            id TEXT NOT NULL, at_us INTEGER NOT NULL, body BLOB NOT NULL,
            PRIMARY KEY (key_id, id)) WITHOUT ROWID;
INSERT INTO "entries" VALUES(2,'e1',1741608000000000,X'73616964');
CREATE TABLE fields (
            key_id INTEGER NOT NULL REFERENCES keys ON DELETE CASCADE,
            name TEXT NOT NULL, written INTEGER NOT NULL, value BLOB NOT NULL,
            PRIMARY KEY (key_id, name)) WITHOUT ROWID;
INSERT INTO "fields" VALUES(1,'city',3,X'E7BD97E9A9AC');
INSERT INTO "fields" VALUES(1,'goal',2,X'73686970');
CREATE TABLE keys (
            id INTEGER PRIMARY KEY, owner TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, expires_us INTEGER,
            UNIQUE (owner, kind, name));
INSERT INTO "keys" VALUES(1,'u1','wm','t1',1741611600000000);
INSERT INTO "keys" VALUES(2,'u1','session','s1',NULL);
CREATE INDEX keys_by_expiry ON keys (expires_us) WHERE expires_us IS NOT NULL;
CREATE INDEX entries_by_time ON entries (key_id, at_us, id);
CREATE INDEX due_by_time ON due (queue, due_us, item);
COMMIT;
PRAGMA user_version = 1;
