"""The lab: traces are read or refused row by row, and play in virtual time on the real core."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gangline.cli import group
from gangline.errors import GanglineError
from gangline.lab.builtin_settings import BUILT_IN, quiet
from gangline.lab.engine import Experiment, Simulation
from gangline.lab.fleet import changed_queues, equal_machines, one_queue, queues_by_demand
from gangline.lab.formats import FORMATS
from gangline.lab.formats.rows import TraceText
from gangline.lab.jobs import BadTrace, Machine, NodeChange, TraceJob
from gangline.lab.measures import PlayedTrace, figures
from gangline.lab.runtimes import expected_runtimes
from gangline.scheduler.settings import SchedulerSettings, native_settings, shard_settings

REPOSITORY = Path(__file__).parents[2]


def play(
    *jobs: TraceJob, gpus: int = 8, settings: SchedulerSettings | None = None, changes: tuple[NodeChange, ...] = ()
) -> PlayedTrace:
    chosen = settings or SchedulerSettings(
        actions=("allocate",), plugins=shard_settings().plugins, skips_alike=True, explains=False
    )
    return Simulation(
        Experiment(
            "test",
            jobs,
            equal_machines(gpus, 8),
            one_queue(),
            chosen,
            expected_runtimes("exact", jobs, 0),
            changes,
            "all",
            period=10,
        )
    ).run()


def simulate(tmp_path: Path, rows: str, *arguments: str, form: str = "csv") -> Result:
    trace = tmp_path / "trace.csv"
    trace.write_text(rows)
    return CliRunner().invoke(group, ["simulate", str(trace), "--format", form, "--gpus", "8", *arguments])


SMALL = "arrival,duration,pods,gpus,queue\n0,100,1,8,a\n10,50,2,4,b\n20,10,1,1,a\n"


def test_a_job_waits_until_another_ends_to_the_second() -> None:
    first, second = play(TraceJob("first", 0, 1000, 1, 8), TraceJob("second", 5, 60, 2, 4)).runs
    assert (first.waited, second.waited, second.ended) == (0, 995, 1060)


def test_a_gang_starts_whole_or_not_at_all() -> None:
    played = play(TraceJob("small", 0, 500, 1, 1), TraceJob("gang", 1, 100, 2, 8), gpus=16)
    assert [run.waited for run in played.runs] == [0, 499]


def test_a_job_on_a_lost_node_starts_again_from_its_last_checkpoint() -> None:
    lost = (NodeChange(100, "node-00000"), NodeChange(200, "new", Machine("new", 8, 1e6, 1e12)))
    plain, kept = (
        play(TraceJob("plain", 0, 150, 1, 8), changes=lost),
        play(TraceJob("kept", 0, 150, 1, 8, checkpoint=30), changes=lost),
    )
    assert (plain.runs[0].ended, plain.lost_gpu_seconds) == (350, 800)
    assert (kept.runs[0].ended, kept.lost_gpu_seconds) == (260, 80)


def test_what_never_fits_never_starts_and_the_simulation_ends() -> None:
    played = play(TraceJob("huge", 0, 10, 4, 8), TraceJob("small", 0, 10, 1, 1))
    assert figures(played)["waits"]["all"]["never"] == 1


def test_idle_gpu_hours_held_ones_and_capacity_add_up() -> None:
    answer = figures(play(TraceJob("a", 0, 3600, 1, 4), TraceJob("b", 0, 3600, 1, 6)))
    assert (
        answer["idle"] == {"shortage": 4, "no demand": 2}
        and answer["makespan_h"] == 2
        and answer["used_percent"] == 62.5
    )


def test_only_the_first_of_alike_gangs_is_tried_and_nothing_else_changes() -> None:
    jobs = [
        TraceJob(f"job-{number}", number * 7 % 90, 40 + number % 5, 1 + number % 3, 1 + number % 8)
        for number in range(120)
    ]
    settings = shard_settings()
    each = SchedulerSettings(actions=("allocate",), plugins=settings.plugins)
    bundled = SchedulerSettings(actions=("allocate",), plugins=settings.plugins, skips_alike=True, explains=False)
    assert [run.waited for run in play(*jobs, gpus=32, settings=each).runs] == [
        run.waited for run in play(*jobs, gpus=32, settings=bundled).runs
    ]


def test_every_bad_row_is_named_with_its_line() -> None:
    rows = (
        "timestamp,duration,num_gpus\n2017-10-09 07:01:55,66,1\nyesterday,66,1\n2017-10-09 "
        "07:01:55,-1,1\n2017-10-09 07:01:55,66,1.5\n"
    )
    with pytest.raises(BadTrace) as caught:
        FORMATS["philly"](TraceText("trace.csv", rows))
    assert str(caught.value) == (
        "trace.csv: 3 rows cannot be read\n"
        "  line 3: timestamp is 'yesterday', which is no date and time (2017-10-09 07:01:55) and no number of seconds\n"
        "  line 4: duration is -1, which must be a number from 0 to 1e+15\n"
        "  line 5: num_gpus is 1.5, which must be a whole number"
    )
    assert caught.value.exit_code == 2


def test_a_header_without_a_needed_column_says_which() -> None:
    with pytest.raises(
        BadTrace, match="the header has no column num_gpu; it needs job_id, submission_time, duration, num_gpu"
    ):
        FORMATS["itp"](TraceText("itp.csv", "job_id,submission_time,duration\n"))


def test_a_philly_job_of_more_than_a_node_becomes_equal_pods() -> None:
    rows = "timestamp,duration,num_gpus,gpu_time,cluster\n0,66,8,0,a\n0,66,32,0,b\n0,66,12,0,b\n"
    jobs = FORMATS["philly"](TraceText("philly.csv", rows))
    assert [(job.pods, job.gpus, job.queue) for job in jobs] == [(1, 8, "a"), (4, 8, "b"), (2, 6, "b")]


def test_gpus_that_no_larger_number_divides_become_pods_of_one() -> None:
    rows = "job_id,submission_time,duration,num_gpu\na,0,60,11\nb,0,60,9\n"
    assert [(job.pods, job.gpus) for job in FORMATS["itp"](TraceText("itp.csv", rows))] == [(11, 1), (3, 3)]


def test_jobs_of_one_name_are_all_played(tmp_path: Path) -> None:
    rows = "name,arrival,duration,gpus\ntrain,0,3600,8\ntrain,0,3600,8\ntrain-3,5,3600,8\n"
    answer = json.loads(simulate(tmp_path, rows, "-o", "json").stdout)
    assert answer["jobs"] == 3 and answer["waits"]["all"]["never"] == 0
    assert answer["makespan_h"] == pytest.approx(3, abs=0.1)


def test_a_trace_from_a_spreadsheet_is_read(tmp_path: Path) -> None:
    rows = "\ufeffarrival,duration,gpus\r\n2017-10-09 07:01:55,60,1\r\n2017-10-09T07:01:55.5Z,60,1\r\n"
    assert json.loads(simulate(tmp_path, rows, "-o", "json").stdout)["jobs"] == 2


def test_a_moment_is_utc_unless_it_says_its_offset() -> None:
    rows = (
        "arrival,duration,gpus\n2017-10-09 07:01:55,60,1\n2017-10-09T09:01:56+02:00,60,1\n2017-10-09 07:01:57Z,60,1\n"
    )
    arrivals = [job.arrival for job in FORMATS["csv"](TraceText("trace.csv", rows))]
    assert [arrival - arrivals[0] for arrival in arrivals] == [0, 1, 2]


def test_a_list_without_nodes_is_refused(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("sn,cpu_milli,memory_mib,gpu,model\n")
    done = CliRunner().invoke(group, ["simulate", str(nodes), "--format", "csv", "--nodes", str(nodes)])
    assert str(done.exception) == f"{nodes} has no nodes"


def test_an_openb_pod_with_part_of_a_gpu_and_a_choice_of_models() -> None:
    rows = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\np,4000,1024,1,460,A10|T4\nq,4000,1024,2,1000,\n"
    shared, whole = FORMATS["openb"](TraceText("openb.csv", rows))
    assert (shared.gpus, shared.models, whole.gpus, whole.models) == (0.46, ("A10", "T4"), 2, ())


def test_quotas_by_demand_and_a_change_of_one() -> None:
    queues = queues_by_demand([TraceJob("a", 0, 30, 1, 1, queue="x"), TraceJob("b", 0, 10, 1, 1, queue="y")], 8)
    changed = changed_queues(queues, {"quota.y.gpu": "+4"})
    assert [queue.gpu.quota for queue in queues] == [6, 2] and [queue.gpu.quota for queue in changed] == [6, 6]


def test_the_json_of_each_setting_is_one_line_with_every_key(tmp_path: Path) -> None:
    result = simulate(
        tmp_path, SMALL, "--settings", "greedy", "--settings", "native", "--queues", "trace", "-o", "json"
    )
    greedy, native = (json.loads(line) for line in result.stdout.splitlines())
    assert (
        {
            "settings",
            "jobs",
            "waits",
            "used_percent",
            "gpus_allocated_percent",
            "evictions",
            "evicted_at_once",
            "lost_gpu_hours",
            "promises",
            "queues",
            "idle",
            "makespan_h",
            "cycles",
            "wall_s",
        }
        <= greedy.keys()
        == native.keys()
    )
    assert list(greedy["waits"]) == ["all", "1..8", "9..15", ">=16"] and greedy["waits"]["all"].keys() == {
        "mean_h",
        "p50_h",
        "p99_h",
        "max_h",
        "never",
    }
    assert greedy["queues"].keys() == {"a", "b"} and greedy["queues"]["a"].keys() == {"mean_h", "share", "borrowed"}


def test_only_the_first_days_are_played_and_what_then_waits_never_started(tmp_path: Path) -> None:
    rows = "arrival,duration,gpus\n0,200000,8\n10,50,8\n90000,50,8\n"
    answer = json.loads(simulate(tmp_path, rows, "--days", "1", "-o", "json").stdout)
    assert (answer["jobs"], answer["waits"]["all"]["never"], answer["makespan_h"]) == (2, 1, 24)


def test_the_same_command_gives_the_same_figures(tmp_path: Path) -> None:
    lines = [
        json.loads(simulate(tmp_path, SMALL, "--runtimes", "noisy:3", "--seed", "4", "-o", "json").stdout)
        for _ in range(2)
    ]
    assert {**lines[0], "wall_s": 0} == {**lines[1], "wall_s": 0}


def test_the_report_is_one_file_that_loads_nothing(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    result = simulate(tmp_path, SMALL, "--settings", "greedy", "--settings", "native", "-o", f"html={page}")
    text = page.read_text()
    assert result.exit_code == 0 and text.count("<svg") >= 6
    assert "src=" not in text and "<link" not in text and text.count("http") == text.count("http://www.w3.org/2000/svg")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--settings", "nothing"), "--settings nothing: there is no such file; built in are greedy, native"),
        (("--change", "quota.z.gpu=4"), "--change quota.z.gpu=4: there is no queue 'z'; there are all"),
        (
            ("--change", "limit.all.gpu=+4"),
            "--change limit.all.gpu=+4: there is no bound now; write a number without a sign",
        ),
        (
            ("--queues", "trace", "--change", "quota.a.gpu=-99"),
            "--change quota.a.gpu=-99: it is 5.36 now, and no less than 0 can be left",
        ),
        (
            ("--runtimes", "noisy:0"),
            "--runtimes noisy:0: write exact, noisy:F with F from 1 on (noisy:3), learned or none",
        ),
        (("--nodes", "nodes.csv"), "say which nodes there are: --nodes FILE, or --gpus N"),
        (("-o", "yaml"), "-o yaml: write table, json or html=FILE"),
        (
            ("--actions", "pray"),
            "--actions pray: there is no action pray; known are all, allocate, consolidation, reclaim, preempt, "
            "stalegangeviction",
        ),
    ],
)
def test_a_wrong_call_says_what_to_write(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    result = simulate(tmp_path, SMALL, *arguments)
    assert isinstance(result.exception, GanglineError) and str(result.exception) == said


def test_a_gang_starts_when_it_was_promised_to_and_idle_gpus_until_then_are_kept_for_it() -> None:
    jobs = (
        TraceJob("old", 0, 3600, 1, 8),
        TraceJob("gang", 1, 60, 2, 8),
        TraceJob("long", 2, 9000, 1, 1),
        TraceJob("short", 3, 60, 1, 1),
    )
    played = play(*jobs, gpus=16, settings=quiet(native_settings(), ("allocate",)))
    waited = {run.name: round(run.waited, -1) for run in played.runs}
    answer = figures(played)
    assert waited == {"old": 0, "gang": 3600, "long": 3660, "short": 10}
    assert answer["promises"] == {"made": 1, "kept": 1} and answer["idle"]["reserved"] == pytest.approx(8, abs=0.1)


def stream() -> list[TraceJob]:
    """One-GPU jobs that keep 32 GPUs busy for half an hour, and after three minutes a gang that needs all of them."""
    small = [TraceJob(f"small-{number}", 2.0 * number, 70 + number % 7, 1, 1) for number in range(900)]
    return [*small, TraceJob("gang", 180, 60, 4, 8)]


@pytest.mark.parametrize("runtimes", ["exact", "none"])
def test_a_stream_of_small_jobs_does_not_starve_a_gang(runtimes: str) -> None:
    jobs, waited = stream(), {}
    for name, make in BUILT_IN.items():
        known = expected_runtimes(runtimes, jobs, 0)
        played = Simulation(
            Experiment(
                name,
                jobs,
                equal_machines(32, 8),
                one_queue(),
                quiet(make(), ("allocate",)),
                known,
                one_queue="all",
                period=5,
            )
        ).run()
        waited[name] = next(run.waited for run in played.runs if run.name == "gang")
    assert waited["greedy"] > 1500 and waited["native"] < 800


@pytest.mark.parametrize(
    ("form", "row", "why"),
    [
        ("csv", "0,1,2147483647,1", "pods is 2147483647, which must be from 1 to 20000"),
        ("csv", "0,1,0,1", "pods is 0, which must be from 1 to 20000"),
        ("csv", "nan,1,1,1", "arrival is 'nan', which is no date and time"),
        ("csv", "0,1,1," + "9" * 200_000, "field larger than field limit"),
        ("philly", "0,1,1000000000039,0,a", "which must be from 1 to 20000"),
        ("philly", "0,1,20011,0,a", "pods is 20011, which must be from 1 to 20000"),
        ("itp", "a,0,1,99999999999999999999", "which must be a number from 0 to 1e+15"),
    ],
)
def test_a_job_that_nobody_could_play_is_refused_with_its_line(tmp_path: Path, form: str, row: str, why: str) -> None:
    headers = {"csv": "arrival,duration,pods,gpus", "philly": "timestamp,duration,num_gpus,gpu_time,cluster"}
    header = headers.get(form, "job_id,submission_time,duration,num_gpu")
    answer = simulate(tmp_path, f"{header}\n{row}\n", form=form)
    assert isinstance(answer.exception, BadTrace) and why in str(answer.exception)


def test_a_job_of_which_no_node_can_hold_a_pod_is_named_with_its_line(tmp_path: Path) -> None:
    rows = "arrival,duration,gpus,memory\n0,60,1,\n10,3600,64,\n20,60,1,1e9\n"
    done = simulate(tmp_path, rows, "--gpus", "64")
    assert done.exit_code == 0
    assert f"warning: {tmp_path / 'trace.csv'}: 2 jobs never start" in done.stderr
    assert "line 3 (job-3): a pod asks for 64 GPUs, and the largest node has 8" in done.stderr
    assert "line 4 (job-4): a pod asks for 1e+09 GiB of memory" in done.stderr
    assert "warning" not in simulate(tmp_path, SMALL).stderr


def test_a_node_that_comes_later_may_hold_what_none_holds_now(tmp_path: Path) -> None:
    events = tmp_path / "events.csv"
    events.write_text("time,node,event,gpus\n100,large,added,16\n")
    done = simulate(tmp_path, "arrival,duration,gpus\n0,60,16\n", "--node-events", str(events))
    assert "warning" not in done.stderr


def test_the_command_in_the_readme_works_word_by_word(monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = [
        line for line in (REPOSITORY / "README.md").read_text().splitlines() if line.startswith("$ gangline sim")
    ]
    monkeypatch.chdir(REPOSITORY)
    words = line.partition("#")[0].split()[2:]
    assert words[1] == "examples/jobs.csv"
    done = CliRunner().invoke(group, [*words, "-o", "json"])
    assert json.loads(done.output)["waits"]["all"]["never"] == 0
