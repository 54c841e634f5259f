page-today = Сегодня
today-which = Дни
today-today = Сегодня
today-week = Неделя
today-empty = Ничего не запланировано
today-empty-text = Дела, дни рождения, обещания и кому позвонить появляются здесь сами — из того, что ты рассказываешь боту.
today-occasions = Даты
today-tasks = Дела
today-promises = Твои обещания
today-waiting = Ты ждёшь
today-contacts = Дать о себе знать
today-questions = Открытые вопросы
today-years = { $years ->
    [one] { $years } год
    [few] { $years } года
   *[other] { $years } лет
}
today-reflections = Что заметно в последнее время
today-dismiss = Убрать
today-met = { $subject }: вы были на связи { $count ->
    [one] { $count } день
    [few] { $count } дня
   *[other] { $count } дней
} из последних 30.
today-quiet = { $subject }: за последние 30 дней ни встречи, ни разговора в рассказах. За два месяца до того — дней: { $count }.
today-matter = { $count ->
    [one] { $count } человек говорил
    [few] { $count } человека говорили
   *[other] { $count } человек говорили
} про «{ $subject }»: { $names }.
today-change = Изменилось: { $subject }. Раньше: { $before }.
today-new = Новое имя в твоих рассказах: { $subject }, { $count ->
    [one] { $count } день
    [few] { $count } дня
   *[other] { $count } дней
}.
