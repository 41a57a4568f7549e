# Run once, when the primary's files are made: a standby may copy it and follow it.
echo "host replication $POSTGRES_USER all scram-sha-256" >> "$PGDATA/pg_hba.conf"
