"""Times of a text, resolved against the moment it was said."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_langgraph.encoding.times import dated, event_anchor, find_times, is_recurring
from hindsight_langgraph.errors import CallError, ConfigError
from hindsight_langgraph.records import Precision

AT = datetime(2025, 6, 11, 10, 15, tzinfo=timezone(timedelta(hours=1)))
"""A Wednesday."""

DAYS = [
    ("I saw the dentist today.", "2025-06-11"),
    ("We merged the billing branch yesterday", "2025-06-10"),
    ("The courier comes tomorrow morning.", "2025-06-12"),
    ("I signed the lease the day before yesterday.", "2025-06-09"),
    ("My parents arrive the day after tomorrow", "2025-06-13"),
    ("The boiler broke last night.", "2025-06-10"),
    ("Dinner with Ines tonight.", "2025-06-11"),
    ("I ran ten km this morning", "2025-06-11"),
    ("Last Friday the choir sang.", "2025-06-06"),
    ("They fitted the blinds last Monday", "2025-06-09"),
    ("this Saturday we repaint the shed", "2025-06-14"),
    ("The auditors come next Tuesday.", "2025-06-17"),
    ("next Friday is my last day", "2025-06-20"),
    ("The plumber called on Saturday.", "2025-06-07"),
    ("On Thursday I will send the contract.", "2025-06-12"),
    ("The grant closes on Friday.", "2025-06-13"),
    ("Please finish it by Monday", "2025-06-16"),
    ("The rehearsal moved to Thursday next week", "2025-06-19"),
    ("Let's meet Tuesday of next week.", "2025-06-17"),
    ("It happened on Friday last week", "2025-06-06"),
    ("The permit arrives Friday week.", "2025-06-20"),
    ("see you on Fri, then", "2025-06-13"),
    ("I bought the kiln three days ago.", "2025-06-08"),
    ("Two weeks ago we hired a cook.", "2025-05-28"),
    ("a couple of days ago the fan died", "2025-06-09"),
    ("a week ago I gave up sugar", "2025-06-04"),
    ("The review is in three days.", "2025-06-14"),
    ("We launch in two weeks", "2025-06-25"),
    ("ten days from now we land in Oslo", "2025-06-21"),
    ("in a week's time the lease ends", "2025-06-18"),
    ("The rent is due on the 14th.", "2025-06-14"),
    ("I'll be back on the 3rd", "2025-07-03"),
    ("We met on the 3rd and talked it over.", "2025-06-03"),
    ("Pay it by the 30th, please.", "2025-06-30"),
    ("The ferry leaves on 10 May 2026.", "2026-05-10"),
    ("I was born on May 10th, 1990", "1990-05-10"),
    ("The kick-off is on July 20", "2025-07-20"),
    ("the exhibition opens on the 2nd of August", "2025-08-02"),
    ("We sold the van on 4 March.", "2025-03-04"),
    ("Prices go up on the first of July.", "2025-07-01"),
    ("Hand it in by the twenty-third of June", "2025-06-23"),
    ("It moved to Sunday, 29 June.", "2025-06-29"),
    ("The wedding is Saturday the 21st of June.", "2025-06-21"),
    ("Friday the 13th is the deadline", "2025-06-13"),
    ("The licence runs out on 2025-12-01.", "2025-12-01"),
    ("go live: 2025/09/05", "2025-09-05"),
    ("the last day of July is the cut-off", "2025-07-31"),
    ("I am away from the 19th to the 30th of August.", "2025-08-19"),
    ("New Year's Eve we host the quiz", "2025-12-31"),
    ("He visits at Christmas.", "2025-12-25"),
    ("We fly on Easter Monday 2026", "2026-04-06"),
    ("Thanksgiving is at ours", "2025-11-27"),
    ("我今天去牙医那儿了", "2025-06-11"),
    ("昨天把账单分支合了", "2025-06-10"),
    ("明天早上快递到", "2025-06-12"),
    ("前天签的租约", "2025-06-09"),
    ("大前天锅炉坏了", "2025-06-08"),
    ("后天爸妈来", "2025-06-13"),
    ("大后天交房", "2025-06-14"),
    ("昨晚空调又滴水了", "2025-06-10"),
    ("今晚和小宁吃饭", "2025-06-11"),
    ("明晚彩排", "2025-06-12"),
    ("前晚停电了", "2025-06-09"),
    ("上周三体检过了", "2025-06-04"),
    ("上上周五开的箱", "2025-05-30"),
    ("下周二审计来", "2025-06-17"),
    ("下下周二才发货", "2025-06-24"),
    ("下下个星期天搬家", "2025-06-29"),
    ("这周六刷棚子", "2025-06-14"),
    ("本周五交初稿", "2025-06-13"),
    ("上个礼拜天去爬山了", "2025-06-08"),
    ("周五要交合同", "2025-06-13"),
    ("周一老师刚改过题目", "2025-06-09"),
    ("周三之前把图给我", "2025-06-18"),
    ("礼拜六他们来装窗帘", "2025-06-14"),
    ("三天前买的窑", "2025-06-08"),
    ("两周前招了个厨师", "2025-05-28"),
    ("十天后到奥斯陆", "2025-06-21"),
    ("3 天后评审", "2025-06-14"),
    ("一个星期后合同到期", "2025-06-18"),
    ("房租14号交", "2025-06-14"),
    ("下个月5号答辩", "2025-07-05"),
    ("上个月20号付过了", "2025-05-20"),
    ("7月20日开幕", "2025-07-20"),
    ("七月二十号开幕", "2025-07-20"),
    ("十二月三十一号前交齐", "2025-12-31"),
    ("2026年3月8日换证", "2026-03-08"),
    ("二〇二六年三月八日换证", "2026-03-08"),
    ("明年1月15号开庭", "2026-01-15"),
    ("去年9月3日入的职", "2024-09-03"),
    ("三月四号把车卖了", "2025-03-04"),
    ("婚礼改到6月21号（周六）", "2025-06-21"),
    ("8月19号到30号我休假", "2025-08-19"),
    ("国庆去成都", "2025-10-01"),
    ("元旦值班的是我", "2026-01-01"),
    ("中秋回老家", "2025-10-06"),
    ("除夕在奶奶家过", "2026-02-16"),
    ("双十一再买显卡", "2025-11-11"),
    ("6月最后一天截稿", "2025-06-30"),
    ("下周起换新系统", "2025-06-16"),
    ("下个月起涨价", "2025-07-01"),
]


@pytest.mark.parametrize(("text", "day"), DAYS)
def test_a_named_day_becomes_the_anchor(text: str, day: str) -> None:
    anchor = event_anchor(text, at=AT)
    assert anchor is not None
    assert anchor.start.date() == date.fromisoformat(day)
    assert anchor.start.utcoffset() == AT.utcoffset()


SPANS = [
    ("what happened last week?", "2025-06-02", "2025-06-09", Precision.WEEK),
    ("the plan for next week", "2025-06-16", "2025-06-23", Precision.WEEK),
    ("the week before last was calm", "2025-05-26", "2025-06-02", Precision.WEEK),
    ("what did we do over the weekend?", "2025-06-07", "2025-06-09", Precision.RANGE),
    ("next weekend we camp", "2025-06-21", "2025-06-23", Precision.RANGE),
    ("Sales fell last month", "2025-05-01", "2025-06-01", Precision.MONTH),
    ("by the end of the month", "2025-06-28", "2025-07-01", Precision.RANGE),
    ("at the end of July", "2025-07-29", "2025-08-01", Precision.RANGE),
    ("in early September", "2025-09-01", "2025-09-11", Precision.RANGE),
    ("We moved here in March.", "2025-03-01", "2025-04-01", Precision.MONTH),
    ("I moved to Porto in March.", "2025-03-01", "2025-04-01", Precision.MONTH),
    ("The launch is moved to early March.", "2026-03-01", "2026-03-11", Precision.RANGE),
    ("since May 2023 I cycle", "2023-05-01", "2023-06-01", Precision.MONTH),
    ("next quarter we hire", "2025-07-01", "2025-10-01", Precision.QUARTER),
    ("until the end of Q3 2025", "2025-07-01", "2025-10-01", Precision.QUARTER),
    ("in the third quarter", "2025-07-01", "2025-10-01", Precision.QUARTER),
    ("last year was rough", "2024-01-01", "2025-01-01", Precision.YEAR),
    ("I left in 2019.", "2019-01-01", "2020-01-01", Precision.YEAR),
    ("two years ago", "2023-01-01", "2024-01-01", Precision.YEAR),
    ("three months ago", "2025-03-01", "2025-04-01", Precision.MONTH),
    ("in the last two weeks", "2025-05-28", "2025-06-12", Precision.RANGE),
    ("over the next 3 days", "2025-06-11", "2025-06-15", Precision.RANGE),
    ("上周干了什么", "2025-06-02", "2025-06-09", Precision.WEEK),
    ("下下周有空吗", "2025-06-23", "2025-06-30", Precision.WEEK),
    ("这周末去露营", "2025-06-14", "2025-06-16", Precision.RANGE),
    ("上个月卖得不好", "2025-05-01", "2025-06-01", Precision.MONTH),
    ("月底前交", "2025-06-28", "2025-07-01", Precision.RANGE),
    ("七月初开工", "2025-07-01", "2025-07-11", Precision.RANGE),
    ("三月搬来的", "2025-03-01", "2025-04-01", Precision.MONTH),
    ("2023年5月以来", "2023-05-01", "2023-06-01", Precision.MONTH),
    ("下季度招人", "2025-07-01", "2025-10-01", Precision.QUARTER),
    ("第三季度的目标", "2025-07-01", "2025-10-01", Precision.QUARTER),
    ("去年很难", "2024-01-01", "2025-01-01", Precision.YEAR),
    ("明年上半年", "2026-01-01", "2026-07-01", Precision.RANGE),
    ("2019年离职", "2019-01-01", "2020-01-01", Precision.YEAR),
    ("三个月前", "2025-03-01", "2025-04-01", Precision.MONTH),
    ("最近两周", "2025-05-28", "2025-06-12", Precision.RANGE),
    ("a few days ago the fan died", "2025-06-06", "2025-06-10", Precision.RANGE),
    ("几天前坏的", "2025-06-06", "2025-06-10", Precision.RANGE),
    ("年底前", "2025-12-01", "2026-01-01", Precision.MONTH),
]


@pytest.mark.parametrize(("text", "start", "end", "precision"), SPANS)
def test_a_longer_time_is_an_interval_with_its_precision(text: str, start: str, end: str, precision: Precision) -> None:
    (anchor,) = find_times(text, at=AT)
    assert (anchor.start.date().isoformat(), anchor.end.date().isoformat(), anchor.precision) == (start, end, precision)


INSTANTS = [
    ("half past four works for me", "2025-06-11T16:30"),
    ("The demo is at quarter to five.", "2025-06-11T16:45"),
    ("call me at 5pm", "2025-06-11T17:00"),
    ("tomorrow at 9:30", "2025-06-12T09:30"),
    ("on Friday at noon", "2025-06-13T12:00"),
    ("tonight at 8", "2025-06-11T20:00"),
    ("at 16:00 on 3 July", "2025-07-03T16:00"),
    ("it starts 2025-07-03T08:15", "2025-07-03T08:15"),
    ("ready in 20 minutes", "2025-06-11T10:35"),
    ("in half an hour", "2025-06-11T10:45"),
    ("two hours ago the pump failed", "2025-06-11T08:15"),
    ("半小时后开会", "2025-06-11T10:45"),
    ("十分钟前停的", "2025-06-11T10:05"),
    ("两个小时后起飞", "2025-06-11T12:15"),
    ("明天下午三点见", "2025-06-12T15:00"),
    ("周五晚上8点半彩排", "2025-06-13T20:30"),
    ("下周二上午十点一刻", "2025-06-17T10:15"),
    ("7月3号16:00", "2025-07-03T16:00"),
    ("评审的时间是2025-07-03 14:00。", "2025-07-03T14:00"),
]


@pytest.mark.parametrize(("text", "moment"), INSTANTS)
def test_an_hour_is_an_instant(text: str, moment: str) -> None:
    (anchor,) = find_times(text, at=AT)
    assert anchor.start.strftime("%Y-%m-%dT%H:%M") == moment
    assert anchor.precision is Precision.INSTANT


NO_TIMES = [
    "The migration takes 20 minutes.",
    "We plan in two-week sprints.",
    "a 40-minute read-only window",
    "It ran for three days straight",
    "I may go, or I may not.",
    "You may 10 people bring along",
    "They march on regardless.",
    "Give me a second, the second option is fine.",
    "Every Monday I water the plants.",
    "The team meets on Mondays.",
    "standup is weekly, retro monthly",
    "The bins go out every other Thursday.",
    "We run Python 3.11 on port 5432.",
    "Version 2.1.14 fixed it",
    "order 4417 and 8410",
    "It costs 60 a week.",
    "the 3rd floor, the 14th chapter",
    "He is 40 years old",
    "Dec is a minicomputer vendor? No, decide later.",
    "Our day off is Thursday.",
    "the first of the two plans",
    "capped at 400 requests per second",
    "at five we lost count? no, five of them",
    "See https://example.org/2025/05/10/post for more",
    "迁移要二十分钟",
    "两周一个冲刺",
    "每周一浇花",
    "店里周一固定休息",
    "每天早上八点站会",
    "每月5号发工资",
    "一周三次健身房",
    "用 Python 3.11，端口 5432",
    "5号楼的3号机柜",
    "第三个方案更好",
    "有一点贵",
    "提三点建议",
    "月亮很圆，月饼很甜",
    "盯十五分钟再走",
    "训练集 12000 对",
    "单周我值，双周他值",
    "后天养成的习惯",
    "只能在周二和周四发布",
    "改成周四休",
    "超时是 3 秒",
]


@pytest.mark.parametrize("text", NO_TIMES)
def test_what_is_no_time_yields_none(text: str) -> None:
    assert find_times(text, at=AT) == ()


@pytest.mark.parametrize(
    "text", ["yesterday", "on Friday", "10 May", "in three days", "昨天", "7月20号", "下周三", "去年", "半小时后", "国庆"]
)
def test_without_the_moment_nothing_is_invented(text: str) -> None:
    assert find_times(text, at=None) == ()


@pytest.mark.parametrize(
    ("text", "day"), [("on 10 May 2024", "2024-05-10"), ("2024年5月10日", "2024-05-10"), ("2024-05-10", "2024-05-10")]
)
def test_a_full_date_needs_no_moment(text: str, day: str) -> None:
    (anchor,) = find_times(text, at=None)
    assert anchor.start.date().isoformat() == day


def test_an_old_message_is_dated_by_its_own_moment_in_the_speakers_zone() -> None:
    said = datetime.fromisoformat("2025-03-05T00:20:00+08:00")
    found = find_times("昨晚服务器又宕机了，上周三也宕过一次。后天我要去广州出差。", at=said)
    assert [anchor.start.date().isoformat() for anchor in found] == ["2025-03-04", "2025-02-26", "2025-03-07"]


def test_a_moment_in_utc_is_read_in_the_named_zone() -> None:
    said = datetime(2025, 3, 4, 16, 20, tzinfo=UTC)
    (anchor,) = find_times("昨晚宕机了", at=said, timezone="Asia/Shanghai")
    assert anchor.start.isoformat() == "2025-03-04T00:00:00+08:00"


def test_the_messages_own_offset_beats_the_named_zone() -> None:
    (anchor,) = find_times("today", at=AT, timezone="Asia/Shanghai")
    assert anchor.start.utcoffset() == AT.utcoffset()


def test_an_unknown_zone_is_named_in_the_error() -> None:
    with pytest.raises(ConfigError, match="Mars/Olympus"):
        find_times("today", at=datetime(2025, 1, 1, tzinfo=UTC), timezone="Mars/Olympus")


def test_a_naive_moment_is_refused() -> None:
    with pytest.raises(CallError, match="offset"):
        find_times("today", at=datetime(2025, 1, 1))


CHOICES = [
    ("We agreed last Monday that the move is on 5 July.", "2025-07-05"),
    ("上周五定的，8月1号上线", "2025-08-01"),
    ("The talk isn't on the 20th, it's on the 27th.", "2025-06-27"),
    ("原定6月20号，改到6月27号了", "2025-06-27"),
    ("I decided yesterday to learn the harp next year.", "2025-06-10"),
    ("The price went up on 1 June, they told me today", "2025-06-01"),
    ("Standup is at 9:30.", None),
    ("I want to open a second shop in August.", None),
    ("打算八月开分店", None),
    ("步骤是：先停写，昨天试过，再切流量，最后放开", None),
    ("How I close the books: on 30 June I total, then mail the sheet, then sleep.", None),
    ("I started on Monday because every Monday is calm", "2025-06-09"),
    ("看了他昨天的草稿", None),
    ("The audit's been pushed to the 8th of July.", "2025-07-08"),
    ("We're launching on Monday the 16th.", "2025-06-16"),
    ("The deadline slipped from 20 June to 4 July.", "2025-07-04"),
    ("Rent goes up from the 1st of September.", "2025-09-01"),
    ("I gave notice on Monday.", "2025-06-09"),
    ("My flight's on the 27th at 6am.", "2025-06-27"),
    ("She had the baby on Sunday night.", "2025-06-08"),
    ("Since Friday the lift is broken.", "2025-06-06"),
    ("We signed with Brightwell this morning.", "2025-06-11"),
    ("As of Monday I report to Ines.", "2025-06-16"),
    ("Starting tomorrow, I work four days a week.", "2025-06-12"),
    ("It's due a week from today.", "2025-06-18"),
    ("It's due in a fortnight.", "2025-06-25"),
    ("They paid us yesterday, finally.", "2025-06-10"),
    ("The exam is the day after tomorrow.", "2025-06-13"),
    ("We close early on Christmas Eve.", "2025-12-24"),
    ("My contract ends 31 December.", "2025-12-31"),
    ("My contract ends on December 31st, 2026.", "2026-12-31"),
    ("The court date is set: July 3rd.", "2025-07-03"),
    ("The demo's tomorrow at three.", "2025-06-12"),
    ("I'm off from Thursday to Sunday.", "2025-06-12"),
    ("I'll be in Lyon 3–7 July.", "2025-07-03"),
    ("Sunday's the fair.", "2025-06-15"),
    ("Last Tuesday's vote settled it: we keep the old logo.", "2025-06-10"),
    ("I've been vegetarian since 2019.", None),
    ("We usually meet on Thursdays.", None),
    ("It took us three days to fix.", None),
    ("I want it finished this year.", None),
    ("We're planning something for the autumn.", None),
    ("The oven needs 20 minutes to heat.", None),
    ("Tests run nightly at 2am.", None),
    ("He's 42 and has two kids.", None),
    ("Friday is my day for invoices.", None),
    ("I call my mum on Sundays.", None),
    ("Room 14 is on the 2nd floor.", None),
    ("It was decided in March.", None),
    ("The quote is valid for 30 days.", None),
    ("The lease runs for two years.", None),
    ("Payday is the 25th of every month.", None),
    ("Our standup moved to 9:45.", None),
    ("I have physio every other Wednesday.", None),
    ("合同6月30日到期", "2025-06-30"),
    ("下周一开始上班", "2025-06-16"),
    ("从下个月1号起实行新规", "2025-07-01"),
    ("会议改到周五下午两点", "2025-06-13"),
    ("会议从周四改到周五了", "2025-06-13"),
    ("我上周日刚搬完家", "2025-06-08"),
    ("前天晚上小区停电", "2025-06-09"),
    ("房东昨天说要卖房", "2025-06-10"),
    ("今天下午把合同签了", "2025-06-11"),
    ("后天早上七点的飞机", "2025-06-13"),
    ("7月3号到7号我在里昂", "2025-07-03"),
    ("考试在本月28号", "2025-06-28"),
    ("年假从8月11号休到8月20号", "2025-08-11"),
    ("驾照明年3月15日到期", "2026-03-15"),
    ("上个月26号入的职", "2025-05-26"),
    ("星期天带孩子去动物园", "2025-06-15"),
    ("周一晚上把数据库迁了", "2025-06-09"),
    ("下周三之前必须交报告", "2025-06-18"),
    ("两天前刚换的手机号", "2025-06-09"),
    ("再过三天就答辩了", "2025-06-14"),
    ("还有十天就截止了", "2025-06-21"),
    ("国庆节结婚", "2025-10-01"),
    ("中秋前交房", "2025-10-06"),
    ("每周三下午开例会", None),
    ("每个月10号发工资", None),
    ("我们一般周五团建", None),
    ("这事拖了三个月", None),
    ("我从2019年开始吃素", None),
    ("今年打算考研", None),
    ("夏天想去海边", None),
    ("他三十五岁，有两个孩子", None),
    ("三楼的14号房间", None),
    ("报价30天内有效", None),
    ("烤箱要预热二十分钟", None),
    ("周日我雷打不动去跑步", None),
    ("站会改到九点四十五", None),
    ("租期两年", None),
    ("工作日晚上八点以后别打电话", None),
    ("单号限行，双号不限", None),
    ("说好的下周，又拖了", None),
    ("昨天的会定了，用第二套方案", "2025-06-10"),
    ("她五一来的，下周三走", "2025-06-18"),
    ("上线时间：2025年7月1日", "2025-07-01"),
    ("周五前我要看到初稿", "2025-06-13"),
    ("礼拜四面试", "2025-06-12"),
    ("三号那天我不在", "2025-07-03"),
    ("初八开工", None),
]


@pytest.mark.parametrize(("text", "day"), CHOICES)
def test_the_anchor_is_the_day_it_is_due_else_the_day_it_happened(text: str, day: str | None) -> None:
    anchor = event_anchor(text, at=AT)
    assert (anchor.start.date().isoformat() if anchor else None) == day


AUTUMN = datetime(2025, 10, 16, 19, 40, tzinfo=timezone(timedelta(hours=8)))
"""A Thursday."""

IN_AUTUMN = [
    ("The tuner comes on Saturday, so keep it free.", "2025-10-18"),
    ("We settled the budget last Monday: nine hundred.", "2025-10-13"),
    ("The kiln arrived on Tuesday, two days late.", "2025-10-14"),
    ("I'm taking over the reading group from the 1st of November.", "2025-11-01"),
    ("Nadia quit yesterday.", "2025-10-15"),
    ("We go live on the 3rd of November, not the 27th.", "2025-11-03"),
    ("The concert is in ten days.", "2025-10-26"),
    ("They raised the fee to 40 as of today.", "2025-10-16"),
    ("I booked the hall for 12 December.", "2025-12-12"),
    ("He handed in the thesis on 30 September.", "2025-09-30"),
    ("From next Monday the shop opens at nine.", "2025-10-20"),
    ("The visit's off until the new year.", None),
    ("I promised her an answer by tomorrow night.", "2025-10-17"),
    ("We moved in three years ago.", None),
    ("The server went down twice last night.", "2025-10-15"),
    ("My sister's wedding is next Saturday.", "2025-10-25"),
    ("Deadline's the 31st.", "2025-10-31"),
    ("I switched dentists in August.", None),
    ("The lease starts on the 15th of January.", "2026-01-15"),
    ("Ana's flight lands Sunday at noon.", "2025-10-19"),
    ("The new dose is 20 mg, since Tuesday.", "2025-10-14"),
    ("Team lunch is every Friday.", None),
    ("Rehearsals are Tuesdays and Fridays now.", None),
    ("Give it two days to dry.", None),
    ("Keep backups for 30 days.", None),
    ("We had 14 guests last time.", None),
    ("I used to live in Ghent.", None),
    ("The tide table says 6:40.", None),
    ("I owe him for the tickets since May.", None),
    ("Version 10.2 drops on Halloween.", "2025-10-31"),
    ("Call the bank first thing on Monday.", "2025-10-20"),
    ("She turned forty on the 9th.", "2025-10-09"),
    ("周六调音师来，别约别的", "2025-10-18"),
    ("上周一把预算敲定了，九百", "2025-10-06"),
    ("窑周二到的，晚了两天", "2025-10-14"),
    ("11月1号起读书会归我管", "2025-11-01"),
    ("小娜昨天辞职了", "2025-10-15"),
    ("11月3号上线，不是27号", "2025-11-03"),
    ("十天后音乐会", "2025-10-26"),
    ("从今天起涨到40", "2025-10-16"),
    ("12月12号的场地订好了", "2025-12-12"),
    ("论文9月30号交的", "2025-09-30"),
    ("下周一开始九点开门", "2025-10-20"),
    ("明晚之前给她答复", "2025-10-17"),
    ("三年前搬来的", None),
    ("昨晚服务器挂了两回", "2025-10-15"),
    ("我妹下周六结婚", "2025-10-25"),
    ("31号截止", "2025-10-31"),
    ("八月换的牙医", None),
    ("明年1月15号起租", "2026-01-15"),
    ("周日中午飞机落地", "2025-10-19"),
    ("周二开始改吃20毫克的", "2025-10-14"),
    ("每周五聚餐", None),
    ("排练改成周二周五了", None),
    ("晾两天再上漆", None),
    ("备份留30天", None),
    ("上回来了14个人", None),
    ("我以前住根特", None),
    ("从五月就欠他票钱", None),
    ("万圣节发10.2版", "2025-10-31"),
    ("周一一早给银行打电话", "2025-10-20"),
    ("她9号刚满四十", "2025-10-09"),
    ("元旦前搞定", "2026-01-01"),
    ("双十一前上架", "2025-11-11"),
    ("本周日之前定下来", "2025-10-19"),
    ("今早群里通知的，停车费涨了", "2025-10-16"),
    ("刚才老板说项目砍了", None),
    ("这周五答辩", "2025-10-17"),
    ("上个周末去爬了山", None),
    ("国庆那几天店里没人", "2025-10-01"),
]


@pytest.mark.parametrize(("text", "day"), IN_AUTUMN)
def test_the_anchor_follows_the_season_and_the_zone(text: str, day: str | None) -> None:
    anchor = event_anchor(text, at=AUTUMN)
    assert (anchor.start.date().isoformat() if anchor else None) == day


def test_a_distance_is_counted_from_what_was_said_before() -> None:
    anchor = event_anchor("The market is two weeks after that, on the 5th.", at=AT, context="The parade is on 21 June.")
    assert anchor is not None
    assert anchor.start.date().isoformat() == "2025-07-05"


def test_a_distance_without_a_base_is_not_guessed() -> None:
    assert event_anchor("It comes two weeks after that, on the 5th.", at=AT) is None


@pytest.mark.parametrize("text", ["every Monday", "on Fridays", "twice a week", "每周一", "周一固定休息", "工作日", "一周两次"])
def test_habits_are_recognised(text: str) -> None:
    assert is_recurring(text)


@pytest.mark.parametrize("text", ["on Monday", "last week", "everything is fine", "下周一见", "周五交稿"])
def test_single_events_are_no_habits(text: str) -> None:
    assert not is_recurring(text)


def test_times_come_in_the_order_of_the_text_with_their_words() -> None:
    found = find_times("Last Friday we voted, and on 3 July it starts.", at=AT)
    assert [anchor.text for anchor in found] == ["Last Friday", "3 July"]


WRITTEN = [
    ("The pump failed last night.", "The pump failed last night (2025-06-10)."),
    ("昨晚停电了，下周二修", "昨晚 (2025-06-10)停电了，下周二 (2025-06-17)修"),
    ("We hire next month.", "We hire next month (2025-07)."),
    ("It was last week", "It was last week (2025-06-02 to 2025-06-08)"),
    ("last year", "last year (2024)"),
    ("The standup is at half past nine.", "The standup is at half past nine."),
    ("since 10 May 2024, every Monday", "since 10 May 2024, every Monday"),
]


@pytest.mark.parametrize(("text", "written"), WRITTEN)
def test_a_relative_time_is_written_out_behind_its_words(text: str, written: str) -> None:
    assert dated(text, at=AT) == written


def test_without_the_moment_a_text_is_not_dated() -> None:
    assert dated("The pump failed last night.", at=None) == "The pump failed last night."


@given(st.text(alphabet="0123456789 月日号周年天前后上下一二三四五六十半点:/-.,，。每aonthedfriymay", max_size=40))
def test_any_text_is_read_without_error_and_in_order(text: str) -> None:
    found = find_times(text, at=AT)
    assert all(anchor.start < anchor.end for anchor in found)


def test_a_long_paste_is_read_to_its_end() -> None:
    text = "The canal was grey and nobody came. " * 600 + "The lease ends on 4 July 2026."
    (anchor,) = find_times(text, at=AT)
    assert (anchor.start.date().isoformat(), anchor.text) == ("2026-07-04", "4 July 2026")


def test_an_expression_near_the_end_of_a_piece_is_not_cut() -> None:
    for length in range(560, 620):
        text = "a" * 10 + " b" * ((length - 10) // 2) + ". We met last Friday in town."
        assert [anchor.start.date().isoformat() for anchor in find_times(text, at=AT)] == ["2025-06-06"]
