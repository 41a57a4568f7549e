# Copies the primary the first time, and then follows it under the name `standby`.
set -eu
export PGDATA="${PGDATA:-/var/lib/postgresql/data}" PGPASSWORD="$POSTGRES_PASSWORD" PGAPPNAME=standby
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    pg_basebackup --pgdata="$PGDATA" --checkpoint=fast --write-recovery-conf \
        --dbname="host=$PRIMARY user=$POSTGRES_USER application_name=standby"
    chmod 0700 "$PGDATA"
fi
exec postgres -c wal_retrieve_retry_interval=500ms
