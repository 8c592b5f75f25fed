// Which codes of an address are valid, and which name an account gets, by the database alone.
import TestSupport
import Testing

@Suite("The codes of an address", .timeLimit(.minutes(1)))
struct CodesOfAnAddress {
    private static let functions = """
        create function asks(p_name text, p_device text default null, p_invitation uuid default null) returns void
        language sql as $$
            select mail_ask(gen_random_uuid(), 'Ann@a.example', 'ann@a.example', p_name, array[p_name], p_device,
                p_invitation)
        $$;
        -- The mail that waits is sent with a code of this hash.
        create function sends(p_hash text) returns boolean language plpgsql as $$
        declare
            v_mail record;
        begin
            select * into v_mail from mail_claim(60);
            return mail_code_put(v_mail.mail, v_mail.attempt, v_mail.email, p_hash, 60)
                and not mail_settle(v_mail.mail, v_mail.attempt, null);
        end $$;
        create function uses(p_hash text, p_device text default null) returns text language sql as $$
            select (u.account::json ->> 'name') || ' ' || coalesce(u.session::json ->> 'device_name', '-')
            from mail_code_use('ann@a.example', p_hash, gen_random_uuid(), gen_random_uuid(),
                gen_random_uuid()::text::bytea, p_device) u
        $$;
        """

    private func run(_ sql: String) async throws -> [String] { try await Psql.lines(Self.functions + sql) }

    @Test(
        "valid codes are the one mailed first and the one mailed last, until one is used", arguments: ["one", "three"])
    func first(_ used: String) async throws {
        let found = try await run(
            """
            select from asks('Ann'); select sends('one');
            select from asks('Thief'); select sends('two');
            select from asks('Thief'); select sends('three');
            select mail_code_attempt('ann@a.example');
            select code_tries, first_tries, failed from mail_codes;
            select coalesce(uses('two'), 'no'), uses('\(used)'), coalesce(uses('one'), 'no');
            select mail_code_attempt('ann@a.example'), failed from mail_codes;
            """)
        #expect(found == ["t", "t", "t", "{three,one}", "1|1|1", "no|Ann -|no", "{}|0"])
    }

    @Test("create an account with the name and device of the first registration")
    func names() async throws {
        let found = try await run(
            """
            select from asks('Ann', 'phone'); select sends('one');
            select from asks('I am a thief', 'Police laptop'); select sends('two');
            select uses('two');
            select from asks('I am a thief', 'Police laptop'); select sends('three');
            select uses('three');
            select from asks(null); select sends('four');
            select uses('four', 'tablet');
            """)
        // From the second code on the account exists, and the sign-in names the device.
        #expect(found == ["t", "t", "Ann phone", "t", "Ann -", "t", "Ann tablet"])
    }

    @Test("belong to a later registration when those of the first have expired")
    func later() async throws {
        let found = try await run(
            """
            select from asks('Ann'); select sends('one');
            update mail_codes set registered_at = registered_at - interval '20 min';
            select from asks('Anne'); select sends('two');
            select uses('two');
            """)
        #expect(found == ["t", "t", "Anne -"])
    }

    @Test("are invalid after five attempts each, and after ten wrong attempts for the address in a day")
    func tries() async throws {
        let found = try await run(
            """
            select from asks('Ann'); select sends('one');
            select mail_code_attempt('ann@a.example') from generate_series(1, 3);
            select from asks('Ann'); select sends('two');
            select mail_code_attempt('ann@a.example') from generate_series(1, 6);
            select failed from mail_codes;
            select from asks('Ann'); select sends('three');
            select mail_code_attempt('ann@a.example') from generate_series(1, 3);
            select failed from mail_codes;
            select from asks('Ann'); select outcome from mail_claim(60);
            """)
        #expect(
            found == [
                "t", "{one}", "{one}", "{one}", "t", "{two,one}", "{two,one}", "{two}", "{two}", "{two}", "{}", "8",
            ]
                + ["t", "{three}", "{three}", "{}", "10", "withheld"])
    }

    @Test("are tried in the same way, by one row for the address, if nobody has asked for one")
    func neverAsked() async throws {
        let found = try await run(
            """
            select mail_code_attempt('ann@a.example') from generate_series(1, 2);
            select hashes from password_code_attempt('ann');
            select email_key, asked, failed from mail_codes order by email_key desc;
            select from asks('Ann'); select sends('one'); select mail_code_attempt('ann@a.example');
            """)
        #expect(found == ["{}", "{}", "{}", "ann@a.example|0|0", "@ann|0|0", "t", "{one}"])
    }

    @Test("create no account, and stay valid, where nobody may register")
    func closed() async throws {
        let found = try await run(
            """
            select from asks('Ann'); select outcome from mail_claim(60, 'closed');
            select from asks('Ann'); select sends('one');
            do $$ begin
                perform mail_code_use('ann@a.example', 'one', gen_random_uuid(), gen_random_uuid(), 'a', null, 100, 'closed');
            exception when sqlstate 'PY403' then
                create table refused as select sqlerrm;
            end $$;
            select * from refused; select count(*) from users; select uses('one');
            """)
        #expect(found == ["withheld", "t", "registration_closed", "0", "Ann -"])
    }

    @Test("use the invitation of the first registration, or of a later one when that is no longer good")
    func invited() async throws {
        let found = try await run(
            """
            create function invites(p_number int) returns uuid language sql as $$
                select (invitation_create('a', null, null, lpad(p_number::text, 32, '0')::uuid, p_number::text::bytea, 1, null)::json
                    ->> 'id')::uuid
            $$;
            create function left_over() returns text language sql as $$
                select string_agg(i.uses_left::text, ',' order by i.id) from invitations i
            $$;
            create function tries(p_hash text) returns text language plpgsql as $$
            begin
                return (select u.account::json ->> 'name' from mail_code_use('ann@a.example', p_hash, gen_random_uuid(),
                    gen_random_uuid(), 'a', null, 100, 'invited') u);
            exception when sqlstate 'PY403' then
                return sqlerrm;
            end $$;
            select from asks('Ann'); select outcome from mail_claim(60, 'invited'); select from invites(1) a, invites(2) b;
            select from asks('Ann', null, invites(3));
            select from asks('Thief', null, invites(4));
            select sends('one'); select left_over();
            select from invitation_spend(lpad('3', 32, '0')::uuid); select tries('one'), left_over();
            select from asks('Thief', null, lpad('4', 32, '0')::uuid); select tries('one'), left_over();
            """)
        #expect(found == ["withheld", "t", "1,1,1,1", "invitation_invalid|1,1,0,1", "Ann|1,1,0,0"])
    }
}
