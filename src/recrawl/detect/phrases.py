"""What pages say of themselves when they are not what was asked for, in the languages of many of them.

Titles and headings are taken apart at their dashes and bars, and a piece must say it from end to end: "Page
not found" does, "How to fix a page that is not found" does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_APART = re.compile(r"[|·•»«–—:]| [-/] ")
_EDGES = " \t!.,;?…-()[]\"'"
_MOST_CHARACTERS = 120  # of a piece; sentences are no titles


def _whole(lines: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{line.strip()})" for line in lines.strip().splitlines()))


NOT_FOUND = _whole(
    r"""
    (?:(?:http )?(?:error|fehler|erreur|errore|erro|fout|błąd|fel|feil|fejl|virhe|chyba|ошибка) ?)?404
    404 error
    (?:(?:http )?error )?404[ ,.!-]{0,4}(?:page |file )?not found
    (?:oops|sorry|uh[ -]oh)?[ ,.!-]{0,4}(?:page|file|content|article|document|url)(?: was)? not found
    (?:oops|sorry)?[ ,.!-]{0,4}(?:this|the|that) (?:\S{1,30} )?(?:page|content|article) was not found
    (?:oops|sorry)?[ ,.!-]{0,4}(?:this|the|that) (?:\S{1,30} )?(?:page|content|article) can(?:no|')t be found
    (?:oops|sorry)?[ ,.!-]{0,4}(?:this|the|that) (?:\S{1,30} )?(?:page|content) could(?: not|n't) be found
    (?:this|the|that) page (?:does not|doesn't) exist(?: any ?more| any longer)?
    page (?:does not|doesn't) exist
    (?:sorry)?[ ,.!-]{0,4}(?:this|that|the) page (?:isn't|is not|is no longer) available(?: right now)?
    (?:we )?(?:can't|cannot|couldn't|could not)(?: seem to)? find (?:that|this|the) page
    not found
    (?:diese )?seite (?:wurde )?(?:leider )?nicht gefunden
    (?:die|diese) (?:\S{1,30} )?seite existiert (?:leider )?nicht(?: mehr)?
    (?:die|diese) (?:\S{1,30} )?seite (?:konnte|wurde|kann) (?:leider )?nicht gefunden(?: werden)?
    (?:cette |la )?page (?:\S{1,30} )?(?:introuvable|non trouvée|inexistante|n'existe (?:pas|plus))
    (?:cette |la )?page (?:\S{1,30} )?n'a pas été trouvée
    p[áà]gina no encontrada
    (?:esta|la) p[áà]gina (?:no existe|no se ha encontrado)
    pagina non trovata
    (?:questa|la) pagina (?:non esiste(?: più)?|che cerchi non esiste)
    p[áà]gina não encontrada
    (?:esta|a) página não (?:existe|foi encontrada)
    (?:deze |de )?pagina (?:is )?niet gevonden
    (?:nie znaleziono strony|strona nie (?:została znaleziona|istnieje)|nie znaleziono)
    sid(?:an|en) (?:hittades|kunde) inte(?: hittas)?
    (?:siden (?:ble|blev) ikke (?:funnet|fundet)|siden findes ikke|siden finnes ikke)
    sivua ei löy(?:dy|tynyt)
    stránka (?:nenalezena|nebyla nalezena|neexistuje)
    страница не (?:найдена|существует)
    сторінку не знайдено
    sayfa bulunamadı
    (?:お探しの)?ページ(?:が|は)(?:見つかりません(?:でした)?|ありません|存在しません)
    (?:页面|页面|网页|頁面|網頁)(?:不存在|未找到|找不到|无法找到)
    (?:페이지를 찾을 수 없습니다|존재하지 않는 페이지입니다)
    """
)
NOT_FOUND_TOLD = re.compile(
    r"(?:page|address|url|document|article|content) (?:that )?you(?:'re| are| were|'ve| have)? "
    r"(?:look(?:ing|ed)? for|request(?:ed|ing)?|tried to|trying to|entered|asked for)"
    r"|we (?:can't|cannot|couldn't|could not)(?: seem to)? find (?:the|that|this|what)"
    r"|requested (?:url|page|document|resource) (?:\S{1,30} )?(?:was not|could not be|cannot be) found"
    r"|page (?:may|might) have (?:been )?(?:moved|removed|deleted|renamed)"
    r"|(?:angeforderte|gesuchte|aufgerufene) (?:seite|adresse|url)"
    r"|page (?:que vous|demandée|recherchée)|p[áa]gina (?:que (?:est[áa]s?|buscas?|busca|você)|solicitada)"
    r"|pagina (?:che (?:stai|hai)|richiesta|die je (?:zoekt|zocht)|die u zoekt|opgevraagde)"
    r"|strona, której szukasz|sidan du (?:söker|letar)|siden du (?:leter|leder|prøv)"
    r"|запрашиваем|お探しのページ|您访问的页面"
)
LOGIN = _whole(
    r"""
    (?:member|user|customer|account|staff|admin|secure|subscriber|partner)s?(?: area)? (?:log ?in|sign ?in)
    (?:please )?(?:log|sign)[ -]?(?:in|on)(?: (?:page|required|here|now))?
    (?:please )?(?:log|sign) in to (?:continue|(?:your|view|access|see|read) .{1,40})
    you (?:must|need to|have to) (?:be logged in|log in|sign in)(?: .{1,40})?
    (?:authentication|login|sign-in) required
    (?:bitte )?(?:anmelden|anmeldung|einloggen|login erforderlich|melden sie sich an|kundenlogin)
    (?:connexion|se connecter|connectez-vous|identifiez-vous|identification|authentification)(?: .{1,30})?
    inici(?:ar|a|e) sesi[óo]n|acceso (?:de )?(?:usuarios|clientes|socios)|identif[íi]cate
    (?:accedi|login richiesto|effettua (?:il login|l'accesso)|area riservata)
    (?:iniciar sess[ãa]o|fazer login|entrar na (?:sua )?conta|faça login|acesse sua conta)
    (?:inloggen|log in op .{1,30}|aanmelden)
    (?:zaloguj się|logowanie)
    (?:logga in|logg inn|log ind)
    (?:kirjaudu|kirjaudu sisään|kirjautuminen)
    (?:přihlášení|přihlásit se|prihlásenie)
    (?:вход|войти|авторизация|вход в систему|вхід|увійти)
    (?:giriş|giriş yap|oturum aç|üye girişi)
    (?:ログイン|会員ログイン|サインイン)
    (?:登录|登入|用户登录|會員登入)
    (?:로그인|회원 로그인)
    """
)
CHALLENGE = _whole(
    r"""
    just a moment|one moment,? please|un momento|un instant|einen moment(?: bitte)?|nur einen moment
    un attimo|een ogenblik|um momento|chwileczkę|один момент
    (?:checking|verifying) your browser(?: before accessing .*)?
    attention required(?:! ?)?
    (?:please )?(?:verify|confirm|prove)(?: that)? you(?:'re| are) (?:a |not a )?(?:human|robot|person)
    verif(?:y|ying) you are human(?: by completing the action below)?
    (?:human|security|bot|robot) (?:verification|check)
    security (?:checkpoint|challenge)
    are you a (?:robot|human)
    (?:are you human|i am human|i'm not a robot|robot or human)
    pardon our interruption
    access (?:to this page has been )?denied
    (?:you have been|you've been|sorry, you have been) blocked
    ddos[ -](?:guard|protection by .*)
    (?:captcha|recaptcha|captcha (?:required|verification|challenge))
    unusual traffic(?: detected)?
    (?:sicherheitsüberprüfung|sicherheitsprüfung|bist du ein mensch|sind sie ein (?:mensch|roboter))
    (?:vérification de sécurité|êtes-vous un robot|vérification humaine)
    (?:verificaci[óo]n de seguridad|¿?eres un robot|verifica que eres humano)
    (?:verifica di sicurezza|sei un robot)
    (?:доступ ограничен|вы не робот|проверка безопасности|проверка браузера)
    (?:安全验证|人机验证|请完成安全验证|セキュリティチェック|보안 확인)
    you are being redirected
    client challenge
    """
)
CHALLENGE_TOLD = re.compile(
    r"verify(?:ing)?(?: that)? you(?:'re| are) (?:a )?(?:human|not a (?:robot|bot))"
    r"|you are (?:not a|human, not a) robot"
    r"|checking (?:if|that) the site connection is secure|needs to review the security of your connection"
    r"|enable javascript and cookies to continue|checking your browser|unusual (?:traffic|activity) from your"
    r"|complete the (?:security check|captcha|action below)|performing security verification"
    r"|security service to protect|(?:made us )?think (?:that )?you(?:'re| (?:are|might be)) a (?:bot|robot)"
    r"|press (?:&|and) hold|solve (?:this|the) (?:captcha|puzzle)|automated (?:access|requests|queries)"
    r"|ray id:|incident id:|you (?:do not|don't) have permission to access .{1,80}reference #"
    r"|bestätigen sie, dass sie (?:ein mensch|kein roboter)"
    r"|vérifier que vous (?:êtes humain|n'êtes pas un robot)"
    r"|verificar? que (?:eres|usted es) (?:un )?humano|confirme que você é humano"
    r"|подтвердите, что (?:вы|запросы)|访问验证|確認您是真人"
)
CONSENT = _whole(
    r"""
    before you continue(?: to .{1,40})?
    (?:we|.{1,30}) (?:value|respect|care about)s? your privacy
    your (?:privacy|data)(?:,? your choice| choices| matters(?: to us)?| is important(?: to us)?)
    (?:manage )?(?:your )?(?:cookie|privacy) (?:consent|wall|gate|preferences|choices)
    (?:please )?(?:accept|agree to) (?:our )?(?:cookies|terms)(?: to continue)?
    cookies? (?:and|&) (?:your )?privacy
    bevor (?:sie|du) .{0,40}(?:fortfahren|fortfährst|weitergehst|weitermachen)
    wir (?:schätzen|respektieren|achten) (?:ihre|deine) privatsphäre
    (?:ihre|deine) (?:privatsphäre|zustimmung|einwilligung|datenschutzeinstellungen)(?: .{1,30})?
    (?:mit werbung (?:weiterlesen|lesen)|weiter mit werbung)(?: .{1,30})?
    avant (?:de|d')? ?(?:continuer|accéder .{1,40}|poursuivre .{1,30})
    nous respectons votre vie privée|(?:le )?respect (?:de|pour) votre vie privée.*|votre vie privée.{0,40}
    antes de (?:continuar|ir a .{1,30}|acessar .{1,30})
    (?:valoramos|respetamos|nos preocupa|nos importa) (?:tu|su) privacidad
    (?:a sua|sua) privacidade (?:é importante|em primeiro lugar).*
    prima di (?:continuare|proseguire|accedere .{1,30})
    (?:rispettiamo|teniamo alla|diamo valore alla) (?:la )?tua privacy
    voordat (?:je|u) (?:verder ?gaat|doorgaat|verdergaat naar .{1,30})
    (?:jouw|uw|je) privacy.{0,40}
    zanim przejdziesz .{1,40}|innan du fortsätter|før du fortsetter|inden du fortsætter|ennen kuin jatkat
    (?:прежде чем продолжить|перед тем как продолжить)
    (?:続行する前に|继续之前|在继续之前)
    """
)
# What a request for consent talks of; three of these are more than a banner's last line.
CONSENT_TOLD = tuple(
    re.compile(pattern)
    for pattern in (
        r"cookies?\b|クッキー|файл\S* cookie",
        r"\b(?:accept|agree|consent|akzeptieren|zustimmen|einverstanden|aceptar|accetta|aceitar|akkoord|zgadzam)"
        r"|\b(?:akceptuj|godkänn|godta|hyväksy|принять)|同意",
        r"\b(?:reject|decline|refuse|ablehnen|rechazar|rifiuta|recusar|weigeren|odrzu|avvisa|manage|options)"
        r"|\b(?:einstellungen|paramétrer|configurar|settings|subscribe|abo\b)|拒否",
        r"\b(?:partner|vendors|third[ -]part|dritt|partenaires|socios|terceros|fornitori|parceiros|derden)",
        r"\b(?:personal data|personali[sz]|advertis|werbung|personenbezogen|données|datos|publicidad|dati)"
        r"|\b(?:pubblicità|anúncios|advertenties|reklam|tracking|legitimate interest)",
    )
)


def pieces(title: str) -> list[str]:
    """A title in its parts, in one spelling."""
    plain = " ".join(title.casefold().replace("’", "'").split())
    found = (part.strip(_EDGES) for part in (plain, *_APART.split(plain)))
    return [part for part in dict.fromkeys(found) if part and len(part) <= _MOST_CHARACTERS]


def said(phrase: re.Pattern[str], titles: Sequence[str]) -> bool:
    return any(phrase.fullmatch(part) for title in titles for part in pieces(title))


def told(phrase: re.Pattern[str], text: str) -> bool:
    return phrase.search(text.casefold().replace("’", "'")) is not None
