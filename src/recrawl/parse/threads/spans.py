"""How long ago something was, in the words of a dozen languages: "3 hours ago", "vor 3 Stunden"."""

from __future__ import annotations

import re
from math import inf

_MINUTE_S, _HOUR_S, _DAY_S = 60.0, 3_600.0, 86_400.0

# Which unit a word names, by the beginnings that its forms share.
_UNITS: tuple[tuple[float, str], ...] = (
    (1.0, "s sec secs second seconds sek sekunde sekunden seconde secondes secondi secondo segundo segundos "
          "seconden sekund sekunder sekundy sekundami sekunda секунд секунды секунду saniye 秒 秒钟 초"),
    (_MINUTE_S, "m min mins minute minutes minuten minuto minutos minuti minuut minuter minutter minut "
                "minuty minutę minutu minutami minutou мин минут минуты минуту dakika dk 分 分钟 分鐘 분"),
    (_HOUR_S, "h hr hrs hour hours stunde stunden std heure heures hora horas ora ore uur uren timme timmar "
              "time timer godz godzin godziny godzinę hodinou hodinami hodin час часа часов saat "
              "時間 小时 小時 시간"),
    (_DAY_S, "d day days tag tage tagen jour jours día días dia dias giorno giorni dag dagen dagar dage "
             "dager dzień dni dnem dny день дня дней gün 日 天 일"),
    (7 * _DAY_S, "w wk week weeks woche wochen semaine semaines semana semanas settimana settimane weken "
                 "vecka veckor uge uger uke uker tydzień tygodnie tygodni týdnem týdny неделю недели недель "
                 "hafta 週間 周 주"),
    (30 * _DAY_S, "mo mon month months monat monate monaten mois mes meses mese mesi mês maand maanden månad "
                  "månader måned måneder miesiąc miesiące miesięcy měsícem měsíci месяц месяца месяцев ay "
                  "か月 ヶ月 个月 個月 개월"),
    (365 * _DAY_S, "y yr yrs year years jahr jahre jahren an ans année années año años anno anni ano anos "
                   "jaar år rok lata lat rokem lety год года лет yıl 年 년"),
)  # fmt: skip
_UNIT_S = {word: unit_s for unit_s, words in _UNITS for word in words.split()}
_ONE = frozenset(
    re.findall(
        r"\w+", "a an one ein eine einer einem einen un une uno una um uma een en et ett jeden jednu bir"
    )
)
_MARKS = frozenset(
    re.findall(r"\w+", "ago vor il hace fa há atrás geleden sedan siden temu před назад önce 前 以前 전")
)
_NOW = re.compile(
    r"just now|moments? ago|right now|gerade eben|soeben|à l'instant|ahora mismo|adesso|agora mesmo|zojuist|"
    r"just nu|lige nu|przed chwilą|právě teď|только что|az önce|şimdi|たった今|刚刚|剛剛|방금"
)
_PIECE = re.compile(r"[0-9]{1,4}|[^\W\d_]{1,16}")
_MOST_PIECES = 12
# Where words are not set apart, the unit and what follows are one.
_UNSPACED = re.compile(
    r"(秒钟|秒|分钟|分鐘|分|時間|小时|小時|日|天|週間|周|か月|ヶ月|个月|個月|年|초|분|시간|일|주|개월|년)(前|以前|전)?"
)


def ago(text: str) -> tuple[float, float] | None:
    """How many seconds ago a text says that something was, and how many its smallest unit has; None where it
    says nothing of the kind. A month is taken for 30 days, a year for 365.

    >>> ago("3 hours ago"), ago("vor einer Stunde"), ago("1 hour 5 minutes ago"), ago("at noon")
    ((10800.0, 3600.0), (3600.0, 3600.0), (3900.0, 60.0), None)
    """
    low = text.strip().casefold()
    if not low or len(low) > 60:
        return None
    if _NOW.search(low):
        return 0.0, _MINUTE_S
    pieces = _PIECE.findall(_UNSPACED.sub(r" \1 \2 ", low))[:_MOST_PIECES]
    marked = not _MARKS.isdisjoint(pieces)
    total_s, least_s, n_units, count = 0.0, inf, 0, -1
    for piece in pieces:
        if piece.isdecimal():
            count = int(piece)
        elif piece in _UNIT_S and count >= 0:
            total_s += count * _UNIT_S[piece]
            least_s = min(least_s, _UNIT_S[piece])
            n_units, count = n_units + 1, -1
        elif piece in _ONE:
            count = 1
    # Without a word for "ago" it is one only where there is nothing else: "3h", "2 d".
    alone = n_units == 1 and len(pieces) == 2 and pieces[0].isdecimal()
    return (total_s, least_s) if n_units and (marked or alone) else None
