page-facts = Факты
records-cancel = Отмена
records-save = Сохранить
facts-search = Поиск по фактам
facts-which = Какие факты
facts-current = Верны сейчас
facts-ended = Больше не верны
facts-all = Все версии
facts-count = { $count ->
    [one] { $count } факт, сначала новые
    [few] { $count } факта, сначала новые
   *[many] { $count } фактов, сначала новые
}
facts-found = { $count ->
    [one] Найден { $count } факт, сначала самые подходящие
    [few] Найдено { $count } факта, сначала самые подходящие
   *[many] Найдено { $count } фактов, сначала самые подходящие
}
facts-empty = Здесь нет фактов
facts-empty-text = Бот находит факты в ваших разговорах, когда разберёт их. Поговорите с ним или выберите другой список выше.
fact-replaced = старая версия
fact-until = до { $day }
fact-corrected = исправлен
fact-source-count = { $count ->
    [0] без источника
    [one] { $count } источник
    [few] { $count } источника
   *[many] { $count } источников
}
fact-sources = Где это было сказано
fact-no-sources = Задано вручную: ни в одном сообщении этого нет.
fact-open = Открыть
fact-history = История
fact-why = Причина: { $reason }
fact-correct = Исправить
fact-correct-title = Исправить факт
fact-correct-text = Старая версия останется в истории. То, что вы задали сами, модели не меняют.
fact-words = Как на самом деле
fact-reason = Почему (сохранится вместе с фактом)
fact-corrected-now = Исправлено
