"""The tables, as an ordered list of named steps; a step that has landed is never edited, a new one is added below."""

MIGRATIONS: dict[str, tuple[str, ...]] = {
    "m001_traces": (
        "create sequence import_number",
        "create sequence trace_number",
        """
        create table imports (
            id integer primary key default nextval('import_number'),
            file varchar not null,
            format varchar,
            reason varchar not null,
            new_traces integer not null,
            duplicates integer not null,
            rejected integer not null,
            imported_at timestamptz not null default now()
        )
        """,
        """
        create table rejects (
            import_id integer not null,
            file varchar not null,
            line integer,
            record integer,
            reason varchar not null,
            excerpt varchar not null
        )
        """,
        """
        create table traces (
            id varchar primary key,
            number bigint not null default nextval('trace_number'),
            import_id integer not null,
            content_hash varchar not null,
            format varchar not null,
            task varchar not null,
            messages varchar not null,
            steps integer not null,
            success boolean,
            score double,
            scores varchar not null,
            feedback varchar not null,
            reference varchar not null,
            source varchar not null,
            metadata varchar not null
        )
        """,
    ),
    "m002_runs": (
        "create sequence run_number",
        """
        create table runs (
            id varchar primary key,
            prompt varchar not null,
            settings varchar not null,
            trace_ids varchar not null,
            state varchar not null,
            error varchar,
            owner varchar,
            base_version integer,
            version integer,
            wall_s double not null default 0,
            created_at timestamptz not null default now(),
            finished_at timestamptz
        )
        """,
        """
        create table iterations (
            run varchar not null,
            iteration integer not null,
            epoch integer not null,
            batch_size integer not null,
            why varchar not null,
            seconds double not null,
            lessons integer not null,
            dropped integer not null,
            version integer,
            primary key (run, iteration)
        )
        """,
        """
        create table nodes (
            run varchar not null,
            id varchar not null,
            iteration integer not null,
            kind varchar not null,
            level integer not null,
            place integer not null,
            inputs varchar not null,
            trace varchar,
            state varchar not null,
            error varchar,
            output varchar not null,
            seconds double not null,
            attempts integer not null,
            failed_attempts integer not null,
            input_tokens bigint not null,
            output_tokens bigint not null,
            cost_usd double,
            primary key (run, id)
        )
        """,
    ),
    "m003_versions": (
        """
        create table versions (
            prompt varchar not null,
            version integer not null,
            parent integer,
            run varchar,
            iteration integer,
            status varchar not null,
            playbook varchar not null,
            sources varchar not null,
            next_number integer not null,
            bullets integer not null,
            created_at timestamptz not null default now(),
            approved_by varchar,
            approved_at timestamptz,
            note varchar,
            primary key (prompt, version)
        )
        """,
        """
        create table decisions (
            prompt varchar not null,
            version integer not null,
            bullet varchar not null,
            decision varchar not null,
            content varchar,
            reviewer varchar not null,
            note varchar not null,
            decided_at timestamptz not null default now()
        )
        """,
        "create table settings (name varchar primary key, value varchar not null)",
    ),
    "m004_originals_tags_and_deletion": (
        """
        create table originals (
            sha256 varchar primary key,
            name varchar not null,
            bytes bigint not null,
            kept_at timestamptz not null default now()
        )
        """,
        "alter table imports add column original varchar",
        "alter table traces add column deleted_at timestamptz",
        "create table tags (trace varchar not null, tag varchar not null, primary key (trace, tag))",
    ),
    "m005_failures_and_budgets": (
        "alter table nodes add column failures varchar default '{}'",
        "alter table runs add column stopped_by varchar",
        "alter table runs add column limit_changes integer default 0",
    ),
    # Texts as they are: to compress them took most of an import, and reading them for a run ten times as long.
    "m006_plain_texts": (
        "alter table originals add column frames varchar",
        "create table readings (key varchar primary key, bytes bigint not null, reports varchar not null)",
        """
        create table plain_traces (
            id varchar primary key using compression uncompressed,
            number bigint not null default nextval('trace_number'),
            import_id integer not null,
            content_hash varchar not null using compression uncompressed,
            format varchar not null,
            task varchar not null using compression uncompressed,
            messages varchar not null using compression uncompressed,
            steps integer not null,
            success boolean,
            score double,
            scores varchar not null,
            feedback varchar not null using compression uncompressed,
            reference varchar not null using compression uncompressed,
            source varchar not null using compression uncompressed,
            metadata varchar not null using compression uncompressed,
            deleted_at timestamptz
        )
        """,
        "insert into plain_traces by name select * from traces order by number",
        "drop table traces",
        "alter table plain_traces rename to traces",
    ),
    "m007_held_back_and_answers": (
        "alter table iterations add column held integer default 0",
        """
        create table answers (
            prompt varchar not null,
            version integer not null,
            proposal varchar not null,
            answer varchar not null,
            content varchar,
            reviewer varchar not null,
            note varchar not null,
            answered_at timestamptz not null default now()
        )
        """,
    ),
    "m008_batches": (
        """
        create table batches (
            run varchar not null,
            iteration integer not null,
            epoch integer not null,
            trace_ids varchar not null,
            why varchar not null,
            primary key (run, iteration)
        )
        """,
        "alter table iterations add column whole boolean default true",
    ),
    "m012_staleness_and_handover": (
        "alter table batches add column reflected_on integer",
        "alter table batches add column adopted varchar",
    ),
    "m013_lost_calls": ("alter table runs add column lost_calls integer default 0",),
    "m014_upkeep": (
        "alter table runs add column chars_a_token double",
        "alter table runs add column upkeep_note varchar",
    ),
    "m014_gatherings": (
        "create sequence gathering_number",
        """
        create table gatherings (
            key varchar primary key,
            number bigint not null default nextval('gathering_number'),
            gathering varchar not null
        )
        """,
    ),
}
