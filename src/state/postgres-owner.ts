import { oneLine } from "../model/diagnostic.ts";
import type { PostgresConfig } from "./config.ts";
import type { Connection } from "./postgres-client.ts";
import { StateFailure } from "./problem.ts";

/**
 * Refuses a schema, tables and triggers that another role has made: whoever owns a table can let it
 * run code, by a trigger, a rule or a view, with the rights of its users.
 * @param database its name, for people
 * @returns whether the schema exists
 */
export async function refuseForeign(
  connection: Connection,
  { schema, table, owner: allowed }: Pick<PostgresConfig, "schema" | "table" | "owner">,
  database: string,
): Promise<boolean> {
  const [row] = await connection.query(OWNERS, [schema, table, allowed ?? null]);
  if (row === undefined) return false;
  const { owner, isOurs, foreign } = row;
  const where = `schema ${schema} in ${database}`;
  const refuse = (reason: string) => new StateFailure({ kind: "foreign-schema", where, reason });
  if (isOurs !== "true")
    throw refuse(
      `it belongs to the role ${owner}, which is neither tasc's own role nor one that it is a member of. If that is intended, add "owner: ${owner}" to "state" in tasc.yaml`,
    );
  if (foreign) throw refuse(`another role made these: ${oneLine(foreign)}. Have them removed`);
  return true;
}

/**
 * Selects the owner of the schema ($1), whether it may own our tables ($2: the name that theirs
 * begin with), and what belongs to others. Not with `pg_has_role`, which says that a superuser is a
 * member of every role. $3 is the role that the settings allow. PostgreSQL's pg_database_owner
 * stands for the owner of the database, and a trigger belongs to the owner of its function.
 */
const OWNERS = `with recursive
  here as (select datdba as owner from pg_catalog.pg_database where datname = current_database()),
  ours (oid) as (
    select oid from pg_catalog.pg_roles where rolname in (current_user, $3::name)
    union
    select case when m.roleid is null then r.oid else m.roleid end from ours
      left join pg_catalog.pg_auth_members m on m.member = ours.oid
      left join pg_catalog.pg_roles r
        on r.rolname = 'pg_database_owner' and ours.oid = (select owner from here)
      where m.roleid is not null or r.oid is not null),
  place as (select oid, nspowner from pg_catalog.pg_namespace where nspname = $1::name),
  theirs as (
    select c.oid, c.relname, c.relowner from pg_catalog.pg_class c join place on c.relnamespace = place.oid
    where c.relkind not in ('i', 'I') and (c.relname = $2::name or c.relname like $2 || '\\_%'))
  select pg_catalog.pg_get_userbyid(place.nspowner)::text as owner,
    (place.nspowner in (select oid from ours))::text as "isOurs",
    (select pg_catalog.string_agg(name, ', ') from (
      select 'table ' || relname || ' (' || pg_catalog.pg_get_userbyid(relowner) || ')' as name from theirs
        where relowner not in (select oid from ours) and relowner <> place.nspowner
      union all
      select 'trigger ' || t.tgname || ' on ' || c.relname || ' (' || pg_catalog.pg_get_userbyid(f.proowner) || ')'
        from pg_catalog.pg_trigger t join theirs c on c.oid = t.tgrelid join pg_catalog.pg_proc f on f.oid = t.tgfoid
        where not t.tgisinternal and f.proowner not in (select oid from ours) and f.proowner <> place.nspowner
    ) foreign_ones) as "foreign"
  from place`;
