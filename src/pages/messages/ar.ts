import { displayName } from '../display-name.ts';
import { html } from '../html.ts';
import { isolated, isolatedAddress, isolatedCode } from '../isolated.ts';
import { durationIn } from './duration.ts';
import type { Messages } from './en.ts';

const locale = 'ar-u-ca-gregory-nu-latn';
const day = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
const plural = new Intl.PluralRules(locale);

/** "دقيقة واحدة", "5 دقائق": how long someone has to wait, rounded up, in the genitive. */
function wait(seconds: number): string {
  const minutes = Math.max(1, Math.ceil(seconds / 60));
  const forms: Record<Intl.LDMLPluralRule, string> = {
    zero: 'لحظات',
    one: 'دقيقة واحدة',
    two: 'دقيقتين',
    few: `${minutes} دقائق`,
    many: `${minutes} دقيقة`,
    other: `${minutes} دقيقة`,
  };
  return forms[plural.select(minutes)];
}

/** Every text of the pages in Arabic. */
export const ar: Messages = {
  day: (time) => day.format(time),
  duration: (seconds) => durationIn(locale, seconds),

  layout: {
    title: (page, product) => `${page} – ${displayName(product)}`,
    titleWithProblem: (page) => `تنبيه: ${page}`,
    home: 'الصفحة الرئيسية',
    support: 'الحصول على مساعدة',
  },

  permissions: {
    identity: 'معرفة من أنت',
    identityDetail: 'اسمك واسم المستخدم وبريدك الإلكتروني وصورتك',
    sentence: (sentence) => isolated(sentence, 300),
    scope: (scope) => html`استخدام الإذن ${isolatedCode(scope)}`,
  },

  signIn: {
    title: 'تسجيل الدخول',
    heading: 'تسجيل الدخول',
    lead: (product) => html`بحسابك في ${isolated(product)}`,
    leadToApp: (app) => html`للمتابعة إلى ${isolated(app)}`,
    email: 'البريد الإلكتروني',
    password: 'كلمة المرور',
    submit: 'تسجيل الدخول',
    problems: {
      wrong_credentials: {
        heading: 'تعذّر تسجيل الدخول',
        text: 'البريد الإلكتروني وكلمة المرور لا يطابقان أي حساب هنا. تحقّق منهما ثم حاول مرة أخرى.',
      },
      throttled: {
        heading: 'محاولات كثيرة',
        text: (seconds) => `حرصًا على أمان الحسابات، يُرجى المحاولة مرة أخرى بعد ${wait(seconds)}.`,
      },
      busy: { heading: 'الضغط كبير الآن', text: 'لم يكتمل تسجيل دخولك. يُرجى المحاولة مرة أخرى بعد لحظات.' },
      form_expired: {
        heading: 'بقيت هذه الصفحة مفتوحة وقتًا طويلًا',
        text: 'لم تفقد شيئًا. يُرجى تسجيل الدخول مرة أخرى.',
      },
    },
  },

  consent: {
    title: 'السماح بالوصول',
    heading: (app, product) => html`هل تسمح لتطبيق ${isolated(app)} باستخدام حسابك في ${isolated(product)}؟`,
    destination: (host) => html`في الحالتين ستنتقل بعد ذلك إلى ${isolatedAddress(host)}`,
    destinationOnThisDevice: (host) =>
      html`في الحالتين ستعود بعد ذلك إلى تطبيق على هذا الجهاز: ${isolatedAddress(host)}`,
    account: 'حسابك',
    switchAccount: html`تبديل <span class="unseen">الحساب</span>`,
    permissions: 'إذا سمحت، يمكن لهذا التطبيق',
    duration: 'يحتفظ بهذا الوصول، حتى في غيابك، إلى أن تنتهي مدّته أو تسحبه أنت.',
    takeBack: html`يمكنك سحبه في أي وقت من صفحة <a href="/account/apps">التطبيقات المتصلة</a>.`,
    password: 'لا يطّلع التطبيق على كلمة مرورك أبدًا.',
    allow: 'سماح',
    deny: 'رفض',
    doubt: 'لا تعرف هذا التطبيق؟ اختر «رفض»، ولن يُشارَك أي شيء.',
  },

  connectedApps: {
    title: 'التطبيقات المتصلة',
    heading: 'التطبيقات المتصلة',
    lead: (product) => html`هذه التطبيقات سمحتَ لها باستخدام حسابك في ${isolated(product)}.`,
    effect: 'عند إزالة تطبيق يُرفض طلبه التالي مباشرة. ويمكنك ربطه من جديد متى شئت.',
    removed: (app) => html`أُزيل ${isolated(app)}، وسيُرفض طلبه التالي.`,
    can: 'يمكنه',
    since: 'متصل منذ',
    lastUsed: 'آخر استخدام',
    neverUsed: 'لم يُستخدم بعد',
    remove: (app) => html`إزالة <span class="unseen">${isolated(app)}</span>`,
    timeZone: 'التواريخ بالتوقيت العالمي المنسّق (UTC).',
    empty: {
      heading: 'لا توجد تطبيقات متصلة',
      text: 'عندما تسمح لتطبيق باستخدام حسابك ستجده هنا، ويمكنك سحب هذا السماح في أي وقت.',
    },
    signedInAs: (email) => html`<span class="unseen">تم تسجيل الدخول بحساب</span> ${isolatedAddress(email)}`,
    signOut: 'تسجيل الخروج',
  },

  signOut: {
    title: 'تسجيل الخروج',
    heading: 'هل تريد تسجيل الخروج؟',
    text: (product) =>
      html`سيتم تسجيل خروجك من ${isolated(product)} في هذا المتصفح. أما التطبيقات التي ربطتها فتبقى متصلة.`,
    submit: 'تسجيل الخروج',
    stay: 'البقاء مسجّلًا',
  },

  signedOut: {
    title: 'تم تسجيل الخروج',
    heading: 'تم تسجيل خروجك',
    text: 'إذا كان غيرك يستخدم هذا الحاسوب، فأغلق نافذة المتصفح أيضًا.',
    signIn: 'تسجيل الدخول مجددًا',
  },

  home: {
    title: 'الصفحة الرئيسية',
    heading: 'حسابك، والقرار لك',
    greeting: (name) => html`مرحبًا ${isolated(name)}`,
    text: (product) => html`من هنا تقرّر أي التطبيقات يمكنها استخدام حسابك في ${isolated(product)}، وتسحب ذلك متى شئت.`,
    signIn: 'تسجيل الدخول',
    connectedApps: 'التطبيقات المتصلة',
    signOut: 'تسجيل الخروج',
    developers: html`هل تطوّر تطبيقًا؟ <a href="/developers">اقرأ دليل المطوّرين</a>.`,
  },

  developers: {
    title: 'للمطوّرين',
    heading: 'اربط تطبيقك',
    lead: (product) =>
      html`أتِح للناس استخدام حساباتهم في ${isolated(product)} داخل تطبيقك: يضغطون «سماح»، فيحصل تطبيقك على رمزين، وكل ما تحتاج إليه أربعة طلبات.`,
    contents: 'في هذه الصفحة',
    example: (call) => `مثال: ${call}`,
    answer: (call) => `الرد: ${call}`,
    need: {
      heading: 'ما تحتاج إليه',
      text: 'يسجّل التطبيقاتِ القائمون على هذه الخدمة، ولا يمكن التسجيل برمجيًا. أرسل إليهم اسم تطبيقك وعناوين إعادة التوجيه، وستحصل على خمسة أشياء:',
      clientId: 'معرّف العميل (Client ID)',
      clientIdText: 'يعرّف تطبيقك، وليس سرًا.',
      clientSecret: 'سرّ العميل (Client Secret)',
      clientSecretText: 'يثبت أن الطلب صادر من خادمك. أبقِه هناك، ولا تضعه في متصفح أو تطبيق جوّال أو مستودع شيفرة.',
      authorizationUrl: 'عنوان طلب الإذن (Authorization URL)',
      accessTokenRequestUrl: 'عنوان طلب رمز الوصول (Access Token Request URL)',
      refreshTokenRequestUrl: 'عنوان طلب التجديد (Refresh Token Request URL)',
    },
    setUp: {
      text: 'تعمل الأمثلة في أي سطر أوامر بعد ملء هذه القيم:',
      label: 'قيم الأمثلة',
    },
    authorize: {
      name: 'اطلب الإذن',
      heading: '1. اطلب الإذن',
      text: html`وجّه متصفح المستخدم إلى عنوان طلب الإذن. يجب أن يطابق <code>redirect_uri</code> أحد العناوين المسجّلة مطابقة تامة. أنشئ لكل زيارة قيمة <code>state</code> عشوائية جديدة، واحفظها في جلسة المستخدم. يطبع المثال العنوان الذي يُفتح في المتصفح.`,
      back: html`بعد «سماح» يعود المتصفح إلى <code>redirect_uri</code> ومعه <code>code</code> وقيمة <code>state</code>. قارن <code>state</code> بما حفظته، وتوقّف إن اختلفا. وبعد «رفض» يصلك <code>error=access_denied</code> بدلًا من الرمز.`,
      options: html`اختياري: يطلب <code>scope</code> (بقيم تفصلها مسافات) بعض أذونات تطبيقك فقط. ونرحّب باستخدام PKCE: أرسل هنا <code>code_challenge</code> و<code>code_challenge_method=S256</code>، وفي الخطوة التالية <code>code_verifier</code>.`,
    },
    exchange: {
      name: 'احصل على الرمزين',
      heading: '2. احصل على الرمزين',
      text: html`استبدل <code>code</code> من خادمك فورًا. وهو صالح مرة واحدة فقط، فإن استُخدم مرتين انتهى كل ما صدر عنه. تُقبل النماذج وJSON هنا وفي الخطوة 3.`,
    },
    refresh: {
      name: 'احصل على رمزين جديدين',
      heading: '3. احصل على رمزين جديدين',
      text: html`عندما تنتهي مدة رمز الوصول، استبدل رمز التجديد برمزين جديدين. احفظ كليهما، فرمز التجديد يتغيّر في كل مرة.`,
    },
    me: {
      name: 'تحقّق من رمز',
      heading: '4. تحقّق من رمز',
      text: html`يوضع رمز الوصول في ترويسة كل طلب إلى الواجهة البرمجية. ويخبرك هذا الطلب بصاحب الحساب وبما سُمح به وبموعد انتهاء هذا الرمز. القيم غير المعروفة تكون <code>null</code>.`,
    },
    safely: {
      heading: 'التجديد الآمن',
      retry: html`<strong>ضاع الرد؟</strong> أرسل رمز التجديد نفسه مرة أخرى، وستحصل على الرمزين الجديدين نفسيهما ما داما لم يُستخدما ولم تنتهِ مهلة إعادة المحاولة.`,
      overlap: html`<strong>عمليتان في وقت واحد؟</strong> تحصل كلتاهما على الرمزين الجديدين نفسيهما خلال فترة التداخل القصيرة بعد التجديد.`,
      reuse: html`<strong>أي رمز تجديد أقدم من ذلك</strong> يُعدّ مسروقًا، فينتهي الوصول فورًا، وعلى المستخدم أن يسمح لتطبيقك من جديد.`,
      restart: html`<strong>عند <code>invalid_grant</code></strong> لا تُعِد المحاولة، فربما سحب المستخدم الوصول. ابدأ من الخطوة 1.`,
      accessToken: html`<strong>رمز الوصول السابق</strong> يبقى صالحًا حتى نهاية مدته، فلا تفشل الطلبات الجارية.`,
    },
    lifetimes: {
      heading: 'المُدد',
      code: html`الرمز <code>code</code>`,
      accessToken: 'رمز الوصول',
      refreshTokenIdle: 'رمز التجديد دون استخدام',
      refreshTokenMax: 'كل ما يتيحه سماح واحد',
      overlap: 'فترة التداخل بعد التجديد',
      retryWindow: 'مهلة إعادة المحاولة بعد التجديد',
      note: 'قد تكون القيمتان الأخيرتان مختلفتين لتطبيقك. أما سحب الوصول فلا ينتظر شيئًا من ذلك: يُرفض الطلب التالي مباشرة.',
    },
    errors: {
      heading: 'عند حدوث خطأ',
      onReturn: html`في العنوان الذي يعود إليه المتصفح، باسم <code>error</code>`,
      onTokens: html`من الخطوتين 2 و3، بصيغة JSON وفيها <code>error</code> و<code>error_description</code>`,
      onMe: html`من الخطوة 4، بصيغة JSON وفيها <code>error.code</code> و<code>error.message</code>`,
      access_denied: 'اختار المستخدم «رفض». تابع دون وصول.',
      authorization_invalid_request: html`معامل ناقص أو غير صحيح أو مكرّر. والغالب أن <code>state</code> ناقص.`,
      invalid_scope: 'نطاق غير مسجّل لتطبيقك.',
      unsupported_response_type: html`يجب أن تكون قيمة <code>response_type</code> هي <code>code</code> أو ألا يُرسل.`,
      invalid_request: html`معامل ناقص أو غير صحيح أو مكرّر، والوصف يبيّن أيها. 413: أكثر من 64 كيلوبايت. 415: ليس نموذجًا ولا JSON.`,
      invalid_client: 'معرّف العميل أو سرّه غير صحيح أو ملغى، أو أن تطبيقك موقوف مؤقتًا. لا تكرّر الطلب، بل تحقّق منهما.',
      invalid_grant:
        'الرمز غير صحيح أو منتهٍ أو مستخدَم أو مسحوب أو يخص تطبيقًا آخر، أو أن عنوان إعادة التوجيه مختلف. ابدأ من الخطوة 1.',
      unauthorized_client: 'تطبيقك غير مسجّل لهذا النوع من الطلبات. اسأل القائمين على هذه الخدمة.',
      unsupported_grant_type: html`قيمة <code>grant_type</code> ليست <code>authorization_code</code> (الخطوة 2) ولا <code>refresh_token</code> (الخطوة 3).`,
      temporarily_unavailable: html`طلبات كثيرة (429) أو انقطاع قصير (503). انتظر عدد الثواني الوارد في <code>Retry-After</code>، ثم أرسل الطلب نفسه.`,
      missing_token: html`لا توجد ترويسة <code dir="ltr">Authorization: Bearer …</code>.`,
      invalid_token: 'رمز الوصول غير معروف أو منتهٍ أو مسحوب. جدّد مرة واحدة، فإن لم ينجح ذلك فابدأ من الخطوة 1.',
      page: 'إذا كان معرّف العميل غير معروف أو عنوان إعادة التوجيه غير مسجّل، فلا يعود المتصفح إليك، بل يرى المستخدم صفحة توضّح ذلك.',
    },
    limits: {
      heading: 'حدود الطلبات',
      text: html`يُرفض الطلب الذي يتجاوز الحد مع ترويستي <code>RateLimit</code> و<code>Retry-After</code> بالثواني. لا تُحتسب طلبات الرموز الناجحة.`,
      kinds: {
        authorization: 'زيارات عنوان طلب الإذن، من عنوان شبكة واحد',
        client_authentication: 'بيانات عميل خاطئة، لتطبيق واحد من عنوان شبكة واحد',
        sign_in_account: 'كلمات مرور خاطئة، لحساب واحد من عنوان شبكة واحد',
        sign_in_address: 'كلمات مرور خاطئة، من عنوان شبكة واحد',
        api: 'جميع الطلبات، من عنوان شبكة واحد',
      },
      rate: (count, seconds) => `${new Intl.NumberFormat(locale).format(count)} / ${durationIn(locale, seconds)}`,
    },
    libraries: {
      heading: 'باستخدام مكتبة OAuth',
      text: html`المكتبات التي تتبع المعايير حرفيًا تتوقّع حقولًا أكثر في رد الرموز. أعطِها هذا العنوان، فتجد فيه كل ما يلزمها. والرموز هي نفسها في الحالتين.`,
      label: 'العنوان المخصّص للمكتبات',
    },
    help: 'واجهتك صعوبة؟',
  },

  errors: {
    goHome: 'الانتقال إلى الصفحة الرئيسية',
    developers: 'للمطوّرين',
    requestId: 'رقم الطلب',
    quote: 'إذا طلبت المساعدة، فاذكر هذا الرقم من فضلك.',
    kinds: {
      unknown_client: {
        heading: 'لا نعرف هذا التطبيق',
        text: 'أرسلك إلى هنا تطبيق غير مسجّل لدينا، أو لم يعد مسجّلًا.',
        now: 'لم تشارك أي شيء. أغلق هذه الصفحة، أو عُد إلى التطبيق وأبلغ القائمين عليه.',
        developer: html`لا يوجد عميل مسجّل بهذا <code>client_id</code>.`,
      },
      bad_redirect_uri: {
        heading: 'توقّفنا حفاظًا على سلامتك',
        text: 'طلب التطبيق الذي أرسلك إلى هنا توجيهك إلى عنوان غير مسجّل له.',
        now: 'لم تشارك أي شيء. أغلق هذه الصفحة، أو عُد إلى التطبيق وأبلغ القائمين عليه.',
        developer: html`يجب أن يكون <code>redirect_uri</code> موجودًا ومطابقًا لأحد العناوين المسجّلة حرفًا بحرف.`,
      },
      client_paused: {
        heading: 'هذا التطبيق موقوف مؤقتًا',
        text: 'لا يستطيع التطبيق الذي أرسلك إلى هنا الاتصال بالحسابات حاليًا.',
        now: 'لم تشارك أي شيء. يُرجى المحاولة لاحقًا، أو سؤال القائمين على التطبيق.',
        developer: html`أوقف مشغّل الخدمة هذا العميل مؤقتًا.`,
      },
      bad_request: {
        heading: 'هناك خطأ في هذا العنوان',
        text: 'لم نتمكّن من فهم الطلب.',
        now: 'عُد من حيث أتيت وحاول مرة أخرى.',
        developer: html`معامل ناقص أو غير صحيح أو مرسل أكثر من مرة.`,
      },
      not_found: {
        heading: 'لا شيء هنا',
        text: 'هذه الصفحة غير موجودة أو نُقلت.',
        now: 'تحقّق من العنوان، أو انتقل إلى الصفحة الرئيسية.',
        developer: html`لا يوجد مسار بهذا الاسم.`,
      },
      method_not_allowed: {
        heading: 'لا يمكن استخدام هذه الصفحة بهذه الطريقة',
        text: 'العنوان موجود، لكن ليس لهذا النوع من الطلبات.',
        now: 'عُد من حيث أتيت وحاول مرة أخرى.',
        developer: html`تسرد الترويسة <code>Allow</code> في هذا الرد الطرق المتاحة.`,
      },
      form_refused: {
        heading: 'لم نقبل هذا النموذج',
        text: 'لم يأتِ من إحدى صفحاتنا، أو كان يخص زيارة شخص آخر.',
        now: 'لم يتغيّر أي شيء. ابدأ من جديد من التطبيق أو الصفحة التي كنت تستخدمها.',
        developer: html`يجب إرسال النماذج من الصفحة التي عرضتها، وفي الجلسة نفسها، مع ملفات تعريف الارتباط.`,
      },
      form_expired: {
        heading: 'بقيت هذه الصفحة مفتوحة وقتًا طويلًا',
        text: 'حفاظًا على سلامتك، لا يصلح النموذج إلا لبضع دقائق.',
        now: 'لم يتغيّر أي شيء. عُد إلى الوراء، وأعد تحميل الصفحة، ثم حاول مرة أخرى.',
        developer: html`انتهت مدة رمز النموذج.`,
      },
      too_many_requests: {
        heading: 'طلبات كثيرة دفعة واحدة',
        text: 'وصلت من شبكتك طلبات كثيرة في وقت قصير.',
        now: 'يُرجى المحاولة مرة أخرى بعد لحظات.',
        developer: html`تبيّن الترويسة <code>Retry-After</code> عدد ثواني الانتظار.`,
      },
      too_large: {
        heading: 'هذا أكبر مما نستطيع قراءته',
        text: 'حجم ما أُرسل أكبر من المسموح به.',
        now: 'لم يتغيّر أي شيء. عُد وأرسل أقل من ذلك.',
        developer: html`الحد الأقصى لمحتوى الطلب 64 كيلوبايت.`,
      },
      unavailable: {
        heading: 'سنعود بعد قليل',
        text: 'لا تستطيع الخدمة الرد في هذه اللحظة.',
        now: 'لم يتغيّر أي شيء. يُرجى المحاولة مرة أخرى بعد لحظات.',
        developer: html`حالة عابرة، ويمكن إرسال الطلب نفسه مرة أخرى.`,
      },
      internal: {
        heading: 'حدث خطأ من جانبنا',
        text: 'الخطأ منّا وليس منك.',
        now: 'يُرجى المحاولة مرة أخرى. وإذا تكرّر ذلك، فأخبرنا.',
        developer: html`تجد التفاصيل في سجل الخدمة تحت رقم هذا الطلب.`,
      },
    },
    waitAndRetry: (seconds) => `يُرجى المحاولة مرة أخرى بعد ${wait(seconds)}.`,
  },
};
