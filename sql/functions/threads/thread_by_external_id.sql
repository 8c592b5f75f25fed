-- Returns: those of the threads that exist, by the host app's ids.
-- Costs: an index probe for each
create or replace function thread_by_external_id(p_external_ids text[]) returns table (external_id text, id uuid)
language sql stable as $$
    select t.external_id, t.id from unnest(p_external_ids) x (external_id)
    join threads t on t.external_id = x.external_id where t.external_id is not null
$$;
