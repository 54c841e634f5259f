page-today = Сегодня
today-which = Дни
today-today = Сегодня
today-week = Неделя
today-empty = Ничего не запланировано
today-empty-text = Дела, дни рождения, обещания и кому позвонить появляются здесь сами — из того, что ты рассказываешь боту.
today-occasions = Даты
today-tasks = Дела
today-promises = Ты обещал
today-waiting = Ты ждёшь
today-contacts = Дать о себе знать
today-questions = Открытые вопросы
today-years = { $years ->
    [one] { $years } год
    [few] { $years } года
   *[other] { $years } лет
}
