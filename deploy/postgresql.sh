# Run by the image of PostgreSQL when its volume is new: the database, and a role that owns it and passes by no policy.
: "${PGPASSWORD:?set it in deploy/postgresql.env}"
psql --no-psqlrc --username postgres --set ON_ERROR_STOP=1 --set password="$PGPASSWORD" <<'SQL'
CREATE ROLE laplaced LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD :'password';
CREATE DATABASE laplaced OWNER laplaced ENCODING 'UTF8' TEMPLATE template0;
ALTER ROLE postgres PASSWORD NULL;
SQL
