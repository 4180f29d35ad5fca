"""What the end of a text sounds like."""

import pytest

from breaker.run import Says
from breaker.run.claims import says


@pytest.mark.parametrize(
    "text",
    [
        "Task Complete",
        "DONE",
        "Done.",
        "All done!",
        "任务完成",
        "任务已完成。",
        "全部完成了\uff01",
        "**Task completed** ✅",
        "The task is complete.",
        "I updated the file. All tests pass. The task is now complete.",
        "Everything is done. Let me know if you need anything else.",
        "I've successfully completed the task you asked for.",
        "Die Aufgabe ist erledigt.",
        "La tâche est terminée.",
        "タスクは完了しました。",
        "Task completed successfully.",
        "\u2705 Task completed successfully!",
        "All set!",
        "I've updated the file and all tests pass.",
        "The refund has been processed successfully.",
        "Tarefa conclu\u00edda.",
        "Compito completato.",
        "C'est fait.",
        "TASK_COMPLETE",
        "[DONE]",
        "Task complete.\n\n- wrote a file\n- ran the tests\n- looked at the result",
    ],
)
def test_a_claim_of_completion(text: str) -> None:
    assert says(text) is Says.DONE


@pytest.mark.parametrize(
    "text",
    [
        "I've refunded order 7.",
        "I\u2019ve just sent the e-mail to Ann. Let me know if you need anything else.",
        "We have successfully deployed version 2.",
        "I cancelled the booking. Everything is done.",
        "I deleted the three files that nobody needs.",
    ],
)
def test_a_claim_to_have_changed_something(text: str) -> None:
    assert says(text) is Says.ACTED


@pytest.mark.parametrize(
    "text",
    [
        "Now I'll run the tests.",
        "The file is written. Next, I will run the tests.",
        "Let me check the order first.",
        "I\u2019m going to call the refund tool now:",
        "I have looked at the code.\n\nNow let me fix it:",
        "接下来我将运行测试。",
        "让我检查一下",
        "Ich werde jetzt die Tests ausführen.",
        "Je vais lancer les tests.",
        "Voy a revisar el pedido.",
        "The first step is done. Next, the tests…",
        "We will now update the file.",
        "I am now going to update it.",
        "To fix this, I'll edit main.py.",
        "I found the bug and will fix it now.",
        "Updating the config now...",
        "Please wait while I process your refund.",
        "One moment please.",
        "我现在就去修改文件。",
        "Vou atualizar o arquivo agora.",
        "Ora aggiorner\u00f2 il file.",
        "Сейчас я обновлю файл.",
        "이제 파일을 수정하겠습니다.",
        "ファイルを修正します。",
    ],
)
def test_an_announcement(text: str) -> None:
    assert says(text) is Says.NEXT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "The capital of France is Paris.",
        "The order was refunded. Let me know if you need anything else.",
        "I'll be happy to help with more.",
        "The work is not done yet.",
        "I could not complete the task.",
        "You should run the tests next.",
        "It is done by the scheduler every night at four.",
        "让我知道你是否还需要别的。",
        "Here is what I will not do.",
        "I should note that this doesn't cover returns.",
        "I'll be here if you need more.",
        "I will not change the tests.",
        "Let's recap: it was the index.",
        "Next, run the tests.",
        "We should use a queue for this.",
        "Please wait for the build before you deploy.",
        "ご確認をお願いします。",
    ],
)
def test_neither(text: str) -> None:
    assert says(text) is None


def test_only_the_end_of_a_long_text_counts() -> None:
    assert says("Done. " + "The rest is a long report of what was found. " * 30) is None
    assert says("A long report of what was found. " * 300 + "Done.") is Says.DONE
