"""Tasks with a label for every step and memory, written for these tests apart from the labelled set that the rules were made on.

They were labelled before they were judged; the rules have since been mended by what the later ones showed.

A label is role and effect: D direct cause, C context, N noise; + towards the goal, - away from it, 0 neither.
"""

from __future__ import annotations

from hindsight_langgraph.annotation.verdict import Case
from tests.annotation.making import call, case, fails, plan, says, user

Labelled = tuple[Case, str, str]
"""The task, the labels of its steps, those of its memories."""

TASKS: dict[str, Labelled] = {
    "a memory that helps": (
        case(
            "Send the weekly report to the board.", plan("Export as PDF and mail it to the board address."),
            call("report.build", "report.pdf", format="pdf"), call("mail.send", "sent", to="board@hollow.example", file="report.pdf"),
            says("Sent to the board."),
            memories=("The board wants the report as PDF, sent to board@hollow.example.", "The canteen closes at two."), feedback="Thank you.",
        ),
        "C+ C+ D+ C+", "D+ N0",
    ),
    "a failure put right": (
        case(
            "Start the shop container on the test box.", fails("ssh.run", "port 8080 is already allocated", host="box-7", cmd="docker run shop"),
            call("ssh.run", "8080 used by old-shop", host="box-7", cmd="ss -ltnp"), plan("An old container still holds the port; stop it first."),
            call("ssh.run", "old-shop", host="box-7", cmd="docker stop old-shop"), call("ssh.run", "started", host="box-7", cmd="docker run shop"),
            call("http.get", "200", url="http://box-7:8080/health"), says("The shop runs on box-7."),
            memories=("The test box is box-7.", "user_k prefers tabs over spaces."),
        ),
        "C- D+ D+ D+ D+ C+ C+", "D+ N0",
    ),
    "given up": (
        case(
            "把旧照片从云盘下载到移动硬盘。", plan("先列目录，再逐个下载。"), call("drive.list", "1240 个文件", path="/照片"),
            fails("drive.download", "磁盘空间不足", path="/照片", to="E:/"), fails("drive.download", "磁盘空间不足", path="/照片", to="E:/"),
            says("硬盘空间不够，没能下载完。"),
            memories=("移动硬盘的盘符是 E 盘。", "user_m 每周三打羽毛球。"), success=False, feedback="算了，我自己弄。", error="磁盘空间不足",
        ),
        "C- C+ C- D- C0", "C0 N0",
    ),
    "the user tells what is needed": (
        case(
            "帮我给客户林先生寄样品。", says("请问林先生的收件地址是？"), user("杭州市西湖区文三路 90 号。"),
            call("ship.create", "单号 SF1001", to="杭州市西湖区文三路 90 号", carrier="顺丰", pay="到付"), says("已寄出，单号 SF1001。"),
            memories=("寄样品默认用顺丰到付。",), feedback="谢谢",
        ),
        "C+ D+ D+ C+", "D+",
    ),
    "a memory out of date": (
        case(
            "Book the usual room for the design review on Thursday.", plan("Use Birch for 90 minutes."),
            call("rooms.book", "booked", room="Birch", minutes=90, day="Thursday"), says("Birch is booked for Thursday."),
            memories=("The usual room for design reviews is Birch.", "Design reviews last 90 minutes."), success=False,
            feedback="Birch is being renovated, we moved to Cedar weeks ago. The length was right at least.", error="Wrong room",
        ),
        "D- D- C0", "D- C+",
    ),
    "a memory not heeded": (
        case(
            "给供应商发本周的采购单。", call("orders.list", "6 张采购单", week=23), call("mail.send", "已发送", to="supplier@x.example", attach="po.xlsx"),
            says("采购单已发给供应商。"),
            memories=("给供应商的邮件必须抄送财务部。", "user_n 不喝咖啡。"), success=False, feedback="又没抄送财务！说过多少次了。", error="漏抄送财务",
        ),
        "C+ D- C0", "C0 N0",
    ),
    "a test mended": (
        case(
            "Fix the failing test in the billing module.", fails("tests.run", "1 failed: test_invoice_date", path="billing"),
            call("file.read", "def due(date): ...", path="billing/invoice.py"), plan("The date is taken in local time; the tests expect UTC."),
            call("file.edit", "edited", path="billing/invoice.py"), call("tests.run", "42 passed", path="billing", env="TZ=UTC"),
            says("Fixed: due dates are computed in UTC."),
            memories=("The billing tests need the env var TZ=UTC.", "Lena likes green tea."), feedback="Works, thanks!",
        ),
        "C- D+ D+ D+ D+ C+", "D+ N0",
    ),
    "words alone": (
        case(
            "用三句话总结这份纪要。", plan("提炼三个决定，用要点列出。"), says("- 定了预算 - 定了日期 - 定了负责人"),
            memories=("user_q 喜欢要点式总结。", "北门的门禁密码每月一换。"), feedback="很好。",
        ),
        "C+ D+", "C+ N0",
    ),
    "wanted otherwise": (
        case(
            "Make a banner for the bake sale.", call("image.make", "banner1.png", text="Bake sale", color="teal"), says("Here is the banner."),
            user("Could you make the letters bigger?"), call("image.make", "banner2.png", text="Bake sale", color="teal", size=90),
            says("Done, with bigger letters."), memories=("The school colour is teal.",), feedback="Lovely!",
        ),
        "C+ C+ D+ D+ C+", "C+",
    ),
    "a fault found by looking": (
        case(
            "Find out why the newsletter form sends nothing, and mend it.", call("logs.tail", "SMTP 535: credentials expired", service="newsletter"),
            plan("The mail account's password has run out; make a new one and store it."), call("vault.rotate", "rotated", secret="smtp-newsletter"),
            call("service.restart", "restarted", name="newsletter"), says("The form sends again: the mail password had expired."),
            memories=("The newsletter service reads smtp-newsletter from the vault.", "The newsletter goes out on the first of the month."),
            feedback="Brilliant, thank you.",
        ),
        "D+ D+ D+ D+ C+", "D+ N0",
    ),
    "the wrong unit": (
        case(
            "给新宿舍订二十条窗帘。", plan("按门店的尺寸，长两米四。"), call("shop.order", "下单成功", item="窗帘", count=20, length="2.4m"), says("二十条窗帘已下单。"),
            memories=("门店的窗帘长 2.4m。", "user_s 的女儿学钢琴。"), success=False, feedback="宿舍的窗户矮，只要 1.8 米的，2.4m 全拖地上了。", error="尺寸不对",
        ),
        "D- D- C0", "D- N0",
    ),
    "picked from what was offered": (
        case(
            "Reserve a table for my parents on Sunday.", call("tables.search", "Osteria Vento 12:30, Zum Anker 13:00", day="Sunday", people=2),
            says("Osteria Vento has 12:30, Zum Anker has 13:00. Which do they like better?"), user("Zum Anker, please."),
            call("tables.reserve", "reserved", place="Zum Anker", day="Sunday", at="13:00"), says("Zum Anker, Sunday at one."),
            memories=("user_t's parents like to sit outside.", "Zum Anker is closed on Mondays."), feedback="Thanks!",
        ),
        "C+ C+ C+ D+ C+", "N0 N0",
    ),
    "a limit of the service": (
        case(
            "把三百张照片的水印去掉。", fails("img.clean", "单次最多 50 张", count=300), plan("分六批，每批 50 张。"), call("img.clean", "50 张完成，其余五批也已完成", count=50, batches=6),
            call("img.count", "共 300 张", folder="无水印"), says("三百张都处理好了。"), memories=("照片放在“活动”相册。",), feedback="太好了",
        ),
        "C- D+ D+ C+ C+", "N0",
    ),
    "forbidden by the user": (
        case(
            "Write a post about our spring sale.", says('Post: "Everything must go! Up to 70% off!!!"'),
            user("Don't shout at people, we never use exclamation marks."), says('Post: "Our spring sale has begun. Many things cost less until Sunday."'),
            memories=("The spring sale ends on Sunday.", "user_v's shop sells ceramics."), feedback="Good.",
        ),
        "C- D+ D+", "C+ N0",
    ),
    "another way tried first": (
        case(
            "把报表定时发到邮箱，每天早上八点。", fails("cron.add", "权限不足：不能写系统任务", at="08:00", cmd="send_report"), call("perm.check", "用户级任务可用", user="svc"),
            call("cron.add_user", "已添加", at="08:00", cmd="send_report", user="svc"), call("cron.list", "08:00 send_report", user="svc"), says("每天八点会自动发报表。"),
            memories=("报表用 send_report 生成并发送。", "user_w 爱喝乌龙茶。"), feedback="可以了，谢谢。",
        ),
        "C- D+ D+ C+ C+", "D+ N0",
    ),
    "nobody was told": (
        case(
            "Move Friday's standup to 10:30.", call("calendar.get", "Standup, Friday 9:30, 6 people", title="Standup"),
            call("calendar.update", "updated", title="Standup", day="Friday", at="10:30", notify=False), says("The standup is at 10:30 on Friday."),
            memories=("Whenever a meeting is moved, the team must be notified in the #team channel.", "The standup lasts 15 minutes."),
            success=False, feedback="Half of the team came at 9:30. You know that the team must be notified!", error="Nobody was notified",
        ),
        "C+ D- C0", "C0 N0",
    ),
    "a lookup": (
        case(
            "快递 YT8890 到哪儿了？", call("express.track", "已到杭州转运中心", no="YT8890"), says("已经到杭州转运中心了。"),
            memories=("user_x 的快递一般放菜鸟驿站。",),
        ),
        "D+ C+", "N0",
    ),
    "made wrong in an earlier step": (
        case(
            "Send the offer letter to the new designer.", call("docs.render", "offer_sommer.pdf", template="offer", name="Sommer", salary=52000),
            call("mail.send", "sent", to="k.sommer@post.example", attach="offer_sommer.pdf"), says("The offer is out."),
            memories=("The agreed salary for the designer is 52000.", "Offers are signed by Ruth."),
            success=False, feedback="We raised it to 55000 yesterday! Now I have to call her and explain.", error="Wrong salary in the offer",
        ),
        "C- D- C0", "D- N0",
    ),
    "moved since": (
        case(
            "写一份周会通知发到群里。", plan("按老样子，周三下午三点。"), call("wechat.post", "已发送", group="产品组", text="周三下午三点周会，三楼会议室。"), says("通知发到产品组了。"),
            memories=("周会在周三下午三点。", "user_y 养了两只鹦鹉。"), success=False, feedback="周会这个月起挪到周四了，好多人都订了错的会议室。", error="时间写错",
        ),
        "D- D- C0", "D- N0",
    ),
}  # fmt: skip
