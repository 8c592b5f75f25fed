-- Imported files have a type, and their digest in the archive is kept when they are changed before the import is applied.
-- locks: attachments (access exclusive), import_attachments
-- length: about a second a million attachments
-- breaking: no

-- Files that were imported without a type.
update attachments a set media_type = 'application/octet-stream' where a.media_type is null and a.state in (2, 5);
-- What can be downloaded has a type. An upload has none yet.
alter table attachments add constraint attachments_media_type_check
    check (media_type is not null or state not in (2, 5));

-- SHA-256 as the archive says, of a file that was changed.
alter table import_attachments add column uploaded_digest bytea;
create index import_attachments_by_id on import_attachments (import_id, id);
