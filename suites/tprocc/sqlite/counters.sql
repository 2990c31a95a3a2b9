-- Size of the whole database.

-- name: database_bytes() columns=1
SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size();
