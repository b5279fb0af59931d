import { displayName } from '../html/display-name.ts';
import { type Html, html } from '../html/html.ts';
import { isolated, isolatedAddress, isolatedCode } from '../html/isolated-text.ts';
import type { Messages } from './en.ts';
import { Formats } from './formats.ts';

const formats = new Formats('ar-u-ca-gregory-nu-latn');

/** "دقيقة واحدة", "5 دقائق": a waiting time, rounded up, in the genitive. */
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
  return forms[formats.plural(minutes)];
}

/** The name of an app; one that was deleted has none. */
function named(app: string | null): Html {
  return app === null ? html`ما` : isolated(app, 60);
}

/** Every text of the pages in Arabic. */
export const ar: Messages = {
  day: (time) => formats.day(time),
  minute: (time) => formats.minute(time),
  second: (time) => formats.second(time),
  ago: (time, now) => formats.ago(time, now),
  duration: (seconds) => formats.duration(seconds),

  account: {
    at: (place) => html`حسابك في ${isolated(place)}`,
    greeting: (name) => html`مرحبًا، ${isolated(name)}`,
    nav: 'حسابك',
    backTo: (product) => html`العودة إلى ${isolated(product, 60)}`,
    home: 'الحساب',
    password: 'تغيير كلمة المرور',
    signedInAs: (who) => html`<span class="unseen">تم تسجيل الدخول بحساب</span> ${who}`,
    signOut: 'تسجيل الخروج',
    apps: (count) =>
      count === 0
        ? 'لا يمكن لأي تطبيق استخدام حسابك.'
        : `عدد التطبيقات التي يمكنها استخدام حسابك: ${formats.number(count)}`,
    recentApps: 'ما استُخدم أو سُمح به في آخر 30 يومًا:',
    seeApps: 'عرض التطبيقات وإزالتها',
    security: 'أين سجّلت دخولك',
    session: (since, at) => html`منذ ${since}، بحسابك في ${isolated(at, 60)}`,
    thisBrowser: 'هذا المتصفح',
    signOutEverywhere: 'تسجيل الخروج من كل مكان',
    appsStay: 'أما التطبيقات التي ربطتها فتبقى متصلة.',
    outdated: {
      heading: 'لم يُسجَّل أي خروج',
      text: 'لم تعد هذه الصفحة حديثة. إذا كنت لا تزال تريد تسجيل الخروج من كل مكان، فاضغط الزر مرة أخرى.',
    },
    activity: 'النشاط الأخير',
    noActivity: 'لم يحدث شيء في آخر 90 يومًا.',
    events: {
      signedIn: () => html`سجّلت دخولك`,
      signedOut: () => html`سجّلت خروجك`,
      allowed: (app) => html`سُمح لتطبيق ${named(app)} باستخدام حسابك`,
      denied: (app) => html`رفضت وصول تطبيق ${named(app)}`,
      removed: (app) => html`فقد تطبيق ${named(app)} وصوله أو بعضه`,
      passwordChanged: () => html`تغيّرت كلمة مرورك`,
      signedOutEverywhere: () => html`سُجّل خروجك من كل مكان`,
      allRemoved: () => html`فقدت جميع التطبيقات وصولها`,
    },
  },

  layout: {
    title: (page, product) => `${page} – ${displayName(product)}`,
    titleWithProblem: (page) => `تنبيه: ${page}`,
    home: 'الصفحة الرئيسية',
    newTab: '(يُفتح في علامة تبويب أخرى)',
    support: 'الحصول على مساعدة',
  },

  permissions: {
    identity: 'معرفة من أنت',
    fields: { name: 'اسمك', username: 'اسم المستخدم', email: 'بريدك الإلكتروني', avatar_url: 'صورتك' },
    list: (fields) => formats.list(fields),
    effects: { reads: 'قراءة', changes: 'تغيير', sensitive: 'حسّاس' },
    nobody: 'برقم تعريف فقط، دون اسمك أو بريدك',
    signsIn: 'يسجّل دخولك',
    gets: (field) => `يحصل على ${field}`,
    sentence: (sentence) => isolated(sentence, 300),
    scope: (scope) => html`استخدام الإذن ${isolatedCode(scope)}`,
  },

  appProfile: {
    publisher: (publisher) => html`من ${isolated(publisher)}`,
    unknownPublisher: 'لم يُذكر صانعه',
    checked: (product) => html`تحقّق منه ${isolated(product)}`,
    unchecked: (product) => html`لم يتحقّق منه ${isolated(product)}`,
    documentHost: (host) => html`يعرّف بنفسه في ${isolatedAddress(host)}`,
    homepage: 'الموقع',
    privacy: 'الخصوصية',
    contact: 'التواصل',
  },

  signIn: {
    title: 'تسجيل الدخول',
    heading: 'تسجيل الدخول',
    lead: (product) => html`بحسابك في ${isolated(product)}`,
    leadToApp: (app) => html`للمتابعة إلى ${isolated(app)}`,
    leadAgain: (app) => html`حرصًا على أمانك، يطلب منك تطبيق ${isolated(app)} تسجيل الدخول مرة أخرى`,
    email: 'البريد الإلكتروني',
    password: 'كلمة المرور',
    submit: 'تسجيل الدخول',
    or: 'أو',
    back: (app) => html`العودة إلى ${isolated(app)} دون تسجيل الدخول`,
    trouble: (help) => html`تعذّر عليك تسجيل الدخول؟ ${help ?? 'اسأل القائمين على هذه الخدمة.'}`,
    signInWith: (product) => html`تسجيل الدخول عبر ${isolated(product)}`,
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
      opened_twice: {
        heading: 'فُتحت هذه الصفحة مرتين',
        text: 'أو سجّل أحدهم الدخول أو الخروج في نافذة أخرى. لم تفقد شيئًا: يُرجى تسجيل الدخول هنا.',
      },
      no_cookies: {
        heading: 'متصفحك يحظر ملفات تعريف الارتباط',
        text: 'لا يمكن تسجيل الدخول من دونها. اسمح بملفات تعريف الارتباط لهذا الموقع في إعدادات متصفحك، ثم سجّل الدخول مرة أخرى.',
      },
      signed_out: {
        heading: 'تم تسجيل خروجك',
        text: 'لم يتغيّر أي شيء. سجّل الدخول ثم أعد المحاولة.',
      },
      pressed_twice: {
        heading: 'يُرجى تسجيل الدخول',
        text: 'إذا ضغطت على الزر مرتين، فقد تكون كلمة المرور الجديدة محفوظة بالفعل: سجّل الدخول بها. وإن لم تعمل، فسجّل الدخول بالسابقة ثم اختر الجديدة مرة أخرى.',
      },
    },
  },

  password: {
    title: 'تغيير كلمة المرور',
    heading: 'تغيير كلمة المرور',
    lead: (email) => html`للحساب ${isolated(email)}`,
    current: 'كلمة المرور الحالية',
    next: 'كلمة المرور الجديدة',
    rule: '8 أحرف على الأقل. بضع كلمات لا صلة بينها سهلة التذكّر وصعبة التخمين.',
    again: 'كلمة المرور الجديدة مرة أخرى',
    submit: 'تغيير كلمة المرور',
    changed: 'تم تغيير كلمة المرور، وسُجّل خروجك من كل مكان آخر.',
    others: (apps) => html`تحتفظ تطبيقاتك المتصلة بوصولها. ويمكنك إزالتها في <a href="${apps}">التطبيقات المتصلة</a>.`,
    problems: {
      wrong_credentials: {
        heading: 'كلمة المرور الحالية غير صحيحة',
        text: 'لم يتغيّر شيء. تحقّق منها ثم حاول مرة أخرى.',
      },
      different: {
        heading: 'كلمتا المرور الجديدتان مختلفتان',
        text: 'لم يتغيّر شيء. اكتب كلمة المرور الجديدة نفسها مرتين.',
      },
      too_short: {
        heading: 'كلمة المرور الجديدة قصيرة جدًا',
        text: 'استخدم 8 أحرف على الأقل، والأفضل 15 حرفًا أو أكثر.',
      },
      too_long: { heading: 'كلمة المرور الجديدة طويلة جدًا', text: 'استخدم 1000 حرف على الأكثر.' },
      nul: {
        heading: 'لا يمكن استخدام كلمة المرور الجديدة',
        text: 'فيها حرف لا يمكن كتابته. اختر كلمة مرور أخرى.',
      },
      common: {
        heading: 'كلمة المرور الجديدة من أكثر كلمات المرور شيوعًا',
        text: 'يجرّبها المهاجمون أولًا. اختر كلمة لا تخطر إلا ببالك.',
      },
      guessable: {
        heading: 'كلمة المرور الجديدة قريبة جدًا من اسم معروف',
        text: 'يجرّب المهاجمون اسمك وبريدك الإلكتروني واسم هذه الخدمة. اختر كلمة أخرى.',
      },
      same: {
        heading: 'هذه هي كلمة المرور التي أُعطيت لك',
        text: 'يعرفها شخص آخر. اختر كلمة مرور لا يعرفها سواك.',
      },
      throttled: {
        heading: 'محاولات كثيرة',
        text: (seconds) => `حرصًا على أمان الحسابات، يُرجى المحاولة مرة أخرى بعد ${wait(seconds)}.`,
      },
      busy: { heading: 'الضغط كبير الآن', text: 'يُرجى المحاولة مرة أخرى بعد لحظات.' },
      form_expired: {
        heading: 'بقيت هذه الصفحة مفتوحة وقتًا طويلًا',
        text: 'لم يتغيّر شيء. يُرجى كتابتها مرة أخرى.',
      },
      opened_twice: {
        heading: 'فُتحت هذه الصفحة مرتين',
        text: 'أو ضغطت مرتين، أو سجّل أحدهم الدخول أو الخروج في نافذة أخرى. إذا كانت كلمة المرور الجديدة محفوظة بالفعل فقد انتهيت. وإن لم تكن، فاكتبها هنا: هذه الصفحة تعمل.',
      },
      no_cookies: {
        heading: 'متصفحك يحظر ملفات تعريف الارتباط',
        text: 'لم يتغيّر شيء. اسمح بملفات تعريف الارتباط لهذا الموقع في إعدادات متصفحك، ثم اكتبها مرة أخرى.',
      },
    },
  },

  invitation: {
    title: 'اختيار كلمة المرور',
    heading: 'اختر كلمة المرور',
    lead: (email, product) => html`للحساب ${isolated(email)} في ${isolated(product)}`,
    text: 'لن يعرفها سواك. يعمل هذا الرابط مرة واحدة، وعند حفظ كلمة مرور جديدة يُسجّل خروجك من كل مكان.',
    submit: 'حفظ كلمة المرور',
  },

  mustChange: {
    title: 'اختيار كلمة مرور خاصة بك',
    heading: 'اختر كلمة مرور خاصة بك',
    lead: (email) => html`للحساب ${isolated(email)}`,
    text: 'كلمة المرور التي سجّلت الدخول بها أُعدّت لك، ولذلك يعرفها شخص آخر. اختر كلمة لا يعرفها سواك، وسيكتمل تسجيل دخولك.',
    submit: 'حفظ كلمة المرور وتسجيل الدخول',
  },

  pickUp: {
    until: (time: string): string => `يعمل هذا العنوان مرة واحدة، حتى ${time} بالتوقيت العالمي.`,
    withSecret: {
      title: 'استلام السرّ',
      heading: (name: string) => html`سرّ ${isolated(name)}`,
      text: 'يُنشئ الزرّ السرّ ويعرضه مرة واحدة، لك وحدك: فمن أرسل إليك هذا العنوان لا يعرفه. جهّز مكانًا آمنًا له، مثل مخزن الأسرار في خادمك.',
      submit: 'إنشاء السرّ وعرضه',
      done: 'سرّك',
      doneText: 'احفظ السرّ الآن: لن يستطيع أحد عرضه عليك مرة أخرى.',
    },
    earlier: 'يبقى السرّ السابق صالحًا إلى أن يُلغى.',
    withoutSecret: {
      title: 'استلام العناوين',
      heading: (name: string) => html`عناوين ${isolated(name)}`,
      text: 'ليس له سرّ، لأنه يثبت هويته بطريقة أخرى. يعرض الزرّ معرّفه والعناوين التي يحتاج إليها.',
      submit: 'عرض العناوين',
      done: 'عناوينك',
      doneText: 'ليست أي من هذه القيم سرّية.',
    },
    guide: (href: string) => html`كيفية استخدامها: <a href="${href}">دليل المطورين</a>.`,
    values: {
      clientId: 'معرّف العميل (Client ID)',
      clientSecret: 'سرّ العميل (Client Secret)',
      authorizationUrl: 'عنوان طلب الإذن (Authorization URL)',
      accessTokenRequestUrl: 'عنوان طلب الرموز (Access Token Request URL)',
      refreshTokenRequestUrl: 'عنوان تجديد الرموز (Refresh Token Request URL)',
      deviceAuthorizationUrl: 'عنوان إذن الأجهزة (Device Authorization URL)',
      meUrl: 'عنوان المستخدم الحالي (Current User URL)',
      issuer: 'المُصدِر (Issuer)، لمكتبات OAuth',
      scopes: 'الأذونات، كما تُرسل في scope',
      redirectUris: 'عناوين العودة المسجّلة',
      resourceServerId: 'معرّف خادم الموارد (Resource Server ID)',
      resourceServerSecret: 'سرّ خادم الموارد (Resource Server Secret)',
      introspectionUrl: 'عنوان فحص الرموز (Introspection URL)',
      revocationStreamUrl: 'عنوان بثّ الإلغاءات (Revocation Stream URL)',
      providerId: 'معرّف المزوّد (Provider ID)',
      providerSecret: 'سرّ المزوّد (Provider Secret)',
      signInEndpoint: 'عنوان تسجيل الدخول (Sign-in Endpoint)',
    },
    problems: {
      form_expired: { heading: 'بقيت هذه الصفحة مفتوحة وقتًا طويلًا', text: 'لم يُنشأ شيء. اضغط الزرّ مرة أخرى.' },
      opened_twice: {
        heading: 'فُتحت هذه الصفحة مرتين',
        text: 'أو سجّل أحد الدخول أو الخروج في نافذة أخرى. لم يُنشأ شيء: اضغط الزرّ مرة أخرى.',
      },
      no_cookies: {
        heading: 'متصفحك يمنع ملفات تعريف الارتباط الخاصة بنا',
        text: 'لم يُنشأ شيء. اسمح بملفات تعريف الارتباط لهذا الموقع في إعدادات متصفحك، ثم اضغط الزرّ مرة أخرى.',
      },
    },
    used: {
      title: 'سبق استخدام هذا العنوان',
      when: (time: string): string => `استُخدم في ${time} بالتوقيت العالمي، وعنوان استلام السرّ يعمل مرة واحدة فقط.`,
      you: 'أنت من استخدمه وضاع السرّ؟ اطلب عنوانًا جديدًا ممن أرسل إليك هذا العنوان.',
      notYou: 'إن لم تكن أنت، فما عرضه لدى شخص آخر: أخبر فورًا من أرسل إليك هذا العنوان.',
    },
  },

  passwordSet: {
    title: 'حُفظت كلمة المرور',
    heading: 'حُفظت كلمة المرور',
    text: 'سجّل الدخول ببريدك الإلكتروني وكلمة المرور الجديدة.',
  },

  consent: {
    title: 'السماح بالوصول',
    heading: (app, product) => html`هل تسمح لتطبيق ${isolated(app)} باستخدام حسابك في ${isolated(product)}؟`,
    headingMore: (app, product) =>
      html`هل تمنح تطبيق ${isolated(app)} أذونات إضافية على حسابك في ${isolated(product)}؟`,
    leadMore: 'لهذا التطبيق وصول إلى حسابك بالفعل، وهو يطلب الآن المزيد.',
    leadNothingNew:
      'لهذا التطبيق وصول إلى حسابك بالفعل. تسأل التطبيقات من جديد عند ربطها مرة أخرى، مثلًا في متصفح آخر أو على جهاز آخر.',
    destination: (host) => html`في الحالتين ستنتقل بعد ذلك إلى ${isolatedAddress(host)}`,
    destinationOnThisDevice: (host) =>
      html`في الحالتين يذهب هذا إلى برنامج على هذا الجهاز: ${isolatedAddress(host)}. <strong>لا تسمح به إلا إذا شغّلته أنت للتو.</strong>`,
    destinationByName: html`يعني الاسم <bdi class="address" dir="ltr">localhost</bdi> هذا الجهاز ما لم تُغيَّر إعدادات شبكته.`,
    account: 'حسابك',
    switchAccount: html`تبديل <span class="unseen">الحساب</span>`,
    signIn: {
      title: 'تسجيل الدخول بحسابك',
      heading: (app, product) => html`تسجيل الدخول إلى ${isolated(app)} بحسابك في ${isolated(product)}`,
      effects: 'إذا سمحت، فإن هذا التطبيق',
      already: 'هذا التطبيق بالفعل',
      also: 'ويمكنه أيضًا',
    },
    permissions: 'إذا سمحت، يمكن لهذا التطبيق',
    permissionsMore: 'إذا سمحت، يمكن لهذا التطبيق أيضًا',
    permissionsAlready: 'يمكنه بالفعل',
    optional: 'اختياري: حدّد ما تريد السماح به أيضًا',
    below: (all) => `المزيد في الأسفل (${all} في المجموع)`,
    device: {
      heading: 'جهاز يطلب الوصول',
      text: 'لا تتابع إلا إذا بدأت هذا بنفسك على جهاز أمامك الآن، وكان هذا الرمز ظاهرًا عليه:',
      warning: html`هل أعطاك شخص آخر هذا الرمز أو رابط هذه الصفحة؟ <strong>اختر «رفض»</strong>، وإلا وصل إلى حسابك.`,
    },
    duration: (max) => `وصول حتى في غيابك، لمدة تصل إلى ${formats.duration(max)}.`,
    durationOrUnused: (max, unused) =>
      `وصول حتى في غيابك، لمدة تصل إلى ${formats.duration(max)}؛ وينتهي بعد ${formats.duration(unused)} دون استخدام.`,
    takeBack: (apps, newTab) =>
      html`يمكنك سحب هذا الإذن في أي وقت من صفحة <a href="${apps}" target="_blank">التطبيقات المتصلة${newTab}</a>.`,
    password: 'لا يطّلع التطبيق على كلمة مرورك أبدًا.',
    uncheckedSensitive: (product) =>
      html`<strong>يطلب هذا التطبيق إذنًا حسّاسًا</strong>، ولم يتحقّق ${isolated(product)} من هوية صانعه.`,
    allow: 'سماح',
    deny: 'رفض',
    notTaken: {
      expired: {
        heading: 'يُرجى الإجابة مرة أخرى',
        text: 'بقيت هذه الصفحة مفتوحة وقتًا طويلًا، فلم نأخذ بإجابتك. راجع كل شيء من جديد قبل أن تختار.',
      },
      elsewhere: {
        heading: 'يُرجى الإجابة مرة أخرى',
        text: 'كانت هذه الصفحة من قبل تسجيل دخول آخر، أو تغيّرت منذ ذلك الحين، فلم نأخذ بإجابتك. راجع كل شيء من جديد، والحساب أيضًا، قبل أن تختار.',
      },
      signed_out: {
        heading: 'يُرجى الإجابة مرة أخرى',
        text: 'لم تعد مسجّل الدخول عندما أجبت، فلم نأخذ بإجابتك. راجع كل شيء من جديد، والحساب أيضًا، قبل أن تختار.',
      },
      throttled: {
        heading: 'إجابات كثيرة',
        text: (seconds) =>
          `سمح حسابك أو رفض كثيرًا خلال وقت قصير، فلم نأخذ بهذه الإجابة. يُرجى الاختيار مرة أخرى بعد ${wait(seconds)}.`,
      },
    },
    doubt: 'لا تعرف هذا التطبيق؟ اختر «رفض»، ولن يُشارَك أي شيء.',
    doubtAlready: 'لست متأكدًا؟ اختر «رفض»، فلا يحصل على شيء إضافي، ويبقى له ما لديه.',
  },

  deviceCode: {
    title: 'ربط جهاز',
    heading: 'ربط جهاز',
    lead: (product) =>
      html`يعرض لك التلفاز أو سطر الأوامر أو جهاز آخر رمزًا. اكتبه هنا لربط الجهاز بحسابك في ${isolated(product)}.`,
    userCode: 'الرمز الظاهر على جهازك',
    hint: '8 أحرف لاتينية، كبيرة أو صغيرة، مع الواصلة أو دونها',
    submit: 'متابعة',
    warning: 'لا تكتب إلا رمزًا يعرضه جهاز لك. وإذا أرسل إليك أحدهم رمزًا، فأغلق هذه الصفحة.',
    problems: {
      unknown_code: {
        heading: 'هذا الرمز لا يعمل',
        text: 'إما أنه غير صحيح أو أن مدّته انتهت. تحقّق منه على جهازك، أو ابدأ هناك من جديد لتحصل على رمز آخر.',
      },
      answered_just_now: {
        heading: 'تمت الإجابة عن هذا الرمز الآن',
        text: 'اضغط «متابعة» لمعرفة الإجابة.',
      },
      throttled: {
        heading: 'محاولات كثيرة',
        text: (seconds) => `يُرجى المحاولة مرة أخرى بعد ${wait(seconds)}.`,
      },
    },
  },

  deviceDone: {
    allowed: {
      title: 'تم السماح للجهاز',
      heading: 'يمكنك العودة إلى جهازك',
      text: (app) => html`سمحت لتطبيق ${isolated(app)}. سيتصل بعد لحظات، وحتى ذلك الحين لا يزال بإمكانك سحب السماح.`,
    },
    connected: {
      title: 'تم ربط الجهاز',
      heading: 'يمكنك العودة إلى جهازك',
      text: (app) => html`تم ربط ${isolated(app)}، وهو يتابع العمل هناك تلقائيًا.`,
    },
    denied: {
      title: 'تم رفض الوصول',
      heading: 'لم يُشارَك أي شيء',
      text: (app) => html`رُفض طلب ${isolated(app)}. يمكنك إغلاق هذه الصفحة.`,
    },
    takeBack: {
      allowed: (apps) => html`ويمكنك إزالته لاحقًا أيضًا من صفحة <a href="${apps}">التطبيقات المتصلة</a>.`,
      connected: (apps) => html`يمكنك إزالته في أي وقت من صفحة <a href="${apps}">التطبيقات المتصلة</a>.`,
    },
  },

  connectedApps: {
    title: 'التطبيقات المتصلة',
    heading: 'التطبيقات المتصلة',
    lead: (product) => html`هذه التطبيقات سمحتَ لها باستخدام حسابك في ${isolated(product)}.`,
    effect: 'عند إزالة تطبيق يُرفض طلبه التالي مباشرة، ويحتفظ بما نسخه من قبل. ويمكنك ربطه من جديد متى شئت.',
    removed: {
      app: (app) =>
        html`أُزيل ${isolated(app)}، وسيُرفض طلبه التالي. ولاستخدامه من جديد اسمح به مرة أخرى من التطبيق نفسه.`,
      appButDevices: (app) =>
        html`أُزيل ${isolated(app)}، ما عدا الأجهزة التي لا تزال في القائمة، وسيُرفض طلبه التالي من غيرها.`,
      device: (app) => html`أُزيل ${isolated(app)} من ذلك الجهاز، وسيُرفض الطلب التالي منه.`,
      installation: (app) => html`أُزيل ${isolated(app)} من أحد المواضع، وسيُرفض الطلب التالي منه.`,
      waiting: (app) => html`أُزيل الوصول الذي كان في انتظار ${isolated(app)}، ولم يعد بإمكان التطبيق استلامه.`,
    },
    outdated: {
      heading: 'لم يُزَل أي شيء بعد',
      text: 'لم تعد هذه الصفحة حديثة. إذا كنت لا تزال تريد إزالة تطبيق، فأزله الآن.',
    },
    permissions: (count) =>
      ({
        zero: 'لا أذونات',
        one: 'إذن واحد',
        two: 'إذنان',
        few: `${count} أذونات`,
        many: `${count} إذنًا`,
        other: `${count} إذن`,
      })[formats.plural(count)],
    sensitive: (count) => `${count} حسّاس`,
    places: (count) => `عدد الاتصالات: ${formats.number(count)}`,
    morePermissions: (count) => `وغيرها: ${count}`,
    lines: 'الاتصالات',
    ofThisLine: 'ما يمكنه هنا',
    showApp: (app) => html`عرض كل ما يخص ${isolated(app, 60)}`,
    allApps: 'جميع التطبيقات المتصلة',
    search: {
      label: 'البحث عن تطبيق باسمه',
      submit: 'بحث',
      order: 'التطبيقات ذات الأذونات الحسّاسة أولًا، ثم آخرها استخدامًا.',
      all: 'عرض الجميع',
      nothing: (query) => html`لا يوجد تطبيق متصل في اسمه «${isolated(query)}».`,
    },
    onDevice: 'على جهاز',
    waiting: 'في انتظار التطبيق',
    can: 'يمكنه',
    canOnceFetched: 'عندما يستلم التطبيق هذا الإذن يمكنه',
    since: 'متصل منذ',
    allowed: 'سُمح به في',
    lastUsed: 'آخر استخدام',
    neverUsed: 'لم يُستخدم بعد',
    ends: (day) => html`ينتهي في ${day}`,
    endsOrUnused: (day, unused) => html`ينتهي في ${day}، أو في ${unused} إن لم يُستخدم حتى ذلك الحين`,
    notFetched: 'تنتهي مدّته تلقائيًا إن لم يستلمه التطبيق',
    remove: {
      all: (app, lines) =>
        html`إزالة الكل (${formats.number(lines)}) <span class="unseen">من اتصالات ${isolated(app)}</span>`,
      app: (app) => html`إزالة <span class="unseen">${isolated(app)}</span>`,
      device: (app, since) => html`إزالة <span class="unseen">${isolated(app)} من الجهاز المتصل منذ ${since}</span>`,
      installation: (app, since) => html`إزالة <span class="unseen">${isolated(app)} المتصل منذ ${since}</span>`,
      waiting: (app, since) => html`إزالة <span class="unseen">ما سُمح به في ${since} وينتظر ${isolated(app)}</span>`,
    },
    removedAll: 'أُزيلت جميع التطبيقات، وستُرفض طلباتها التالية.',
    removeAll: {
      open: 'إزالة جميع التطبيقات…',
      question:
        'يفقد كل ما في هذه القائمة إمكانية الوصول إلى حسابك فورًا، وعلى الأجهزة أيضًا. ويمكنك ربط كل تطبيق من جديد لاحقًا.',
      submit: 'نعم، أزِل جميع التطبيقات',
    },
    pages: {
      label: 'الصفحات',
      first: 'الصفحة الأولى',
      next: 'الصفحة التالية',
      shown: (first, last, total) => `${formats.number(first)} إلى ${formats.number(last)} من ${formats.number(total)}`,
    },
    timeZone: 'التواريخ والأوقات بالتوقيت العالمي المنسّق (UTC).',
    empty: {
      heading: 'لا توجد تطبيقات متصلة',
      text: 'عندما تسمح لتطبيق باستخدام حسابك ستجده هنا، ويمكنك إزالته في أي وقت.',
    },
  },

  signOut: {
    title: 'تسجيل الخروج',
    heading: 'هل تريد تسجيل الخروج؟',
    text: (product) => html`سيتم تسجيل خروجك من ${isolated(product)} في هذا المتصفح.`,
    apps: 'أما التطبيقات التي ربطتها فتبقى متصلة.',
    elsewhere: (product) =>
      html`تبقى مسجّل الدخول في ${isolated(product)} حيث سجّلت دخولك. سجّل خروجك هناك أيضًا إذا كان غيرك يستخدم هذا المتصفح.`,
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
    text: (product) =>
      html`هنا ترى التطبيقات التي يمكنها استخدام حسابك في ${isolated(product)}، ويمكنك إزالتها متى شئت.`,
    signIn: 'تسجيل الدخول',
    connectedApps: 'التطبيقات المتصلة',
    password: 'تغيير كلمة المرور',
    signOut: 'تسجيل الخروج',
    developers: (developers) => html`هل تطوّر تطبيقًا؟ <a href="${developers}">اقرأ دليل المطوّرين</a>.`,
  },

  developers: {
    title: 'للمطوّرين',
    heading: 'اربط تطبيقك',
    lead: (product) =>
      html`أتِح للناس استخدام حساباتهم في ${isolated(product)} داخل تطبيقك: يضغطون «سماح»، فيحصل تطبيقك على رمزين، ولا يطّلع على كلمة مرور أبدًا.`,
    contents: 'في هذه الصفحة',
    copy: 'نسخ',
    copied: 'تم النسخ',
    example: (call) => `مثال: ${call}`,
    answer: (call) => `الرد: ${call}`,
    ways: {
      library:
        'الطريقة المعتادة. تأخذ مكتبتك عنوانًا واحدًا وتجد الباقي بنفسها. وتناسب كذلك التطبيقات العامة والأجهزة التي لا متصفح فيها.',
      calls: 'للتطبيقات التي تكتب الطلبات بنفسها: أربعة طلبات HTTP بسيطة، بالقيم الخمس التي تسلّمتها.',
      same: 'الرموز والمُدد والحدود واحدة في الحالتين، وكذلك الصفحات التي يراها الناس.',
    },
    programs: {
      alsoAs: (markdown) => html`هذه الصفحة متاحة أيضًا <a href="${markdown}">بصيغة Markdown</a>.`,
      service: (product) => html`خدمة التفويض OAuth 2.0 في ${isolated(product)}، لتطبيقات تعمل نيابةً عن مستخدميها.`,
      documents: 'الوثائق',
      markdown: 'كيف يُربط تطبيق: العناوين والأذونات والأمثلة والمُدد والأخطاء والحدود',
      resource: 'البيانات الوصفية لواجهة API',
    },
    fill: {
      label: 'معرّف العميل (Client ID) الخاص بك',
      submit: 'املأ الأمثلة',
      hint: 'تحمله عندئذٍ أمثلة هذه الصفحة. لا يُبحث عن شيء ولا يُحفظ شيء.',
      refused: {
        heading: 'هذا ليس معرّف عميل.',
        text: 'لا يزيد على 255 محرفًا: حروف لاتينية وأرقام والرموز \u2066. _ ~ : / ? & = @ % + -\u2069. انسخه كما تسلّمته تمامًا.',
      },
    },
    need: {
      heading: 'ما تحتاج إليه',
      text: 'يسجّل التطبيقاتِ القائمون على هذه الخدمة، ولا يمكن التسجيل برمجيًا. أرسل إليهم اسم تطبيقك وعناوين إعادة التوجيه والأذونات التي يحتاج إليها، وستحصل على خمس قيم:',
      clientId: 'معرّف العميل (Client ID)',
      clientIdText: 'يعرّف تطبيقك، وليس سرًا.',
      clientSecret: 'سرّ العميل (Client Secret)',
      clientSecretText:
        'يثبت أن الطلب صادر من خادمك. أبقِه هناك، ولا تضعه في متصفح أو تطبيق جوّال أو مستودع شيفرة. أما التطبيق العام الذي يعمل على أجهزة الناس فلا سرّ له.',
      pickUp: html`<strong>هل وصلك عنوان لاستلام سرّ؟</strong> افتحه حيث تستطيع حفظ السرّ، واضغط الزرّ: يُنشأ السرّ عندئذٍ، ويُعرض مرة واحدة مع هذه القيم. يعمل العنوان مرة واحدة خلال 72 ساعة. وإن استخدمه غيرك، فأخبر فورًا من أرسله.`,
    },
    scopes: {
      heading: 'الأذونات',
      text: html`اطلبها بأسمائها في <code>scope</code> تفصلها مسافات. لا يحصل تطبيقك إلا على ما سُجّل له، وإذا لم يُرسل <code>scope</code> طلبه كله. ويمكن للمستخدم أن يستثني الاختياري منها، ويبيّن <code>scope</code> في رد الرموز، أو في الخطوة 4، ما سمح به فعلًا.`,
    },
    library: {
      heading: 'باستخدام مكتبة OAuth',
      text: html`تحتاج المكتبة إلى جهة الإصدار (<code>issuer</code>) ومعرّف العميل وسرّه، وتقرأ كل ما عدا ذلك من البيانات الوصفية. وإذا لم تستطع مكتبتك ذلك، فأعطها العناوين أدناه.`,
      setUpLabel: 'قيم البرامج',
      programs: 'كل برنامج كامل: يطبع العنوان الذي يُفتح، ويأخذ العنوان الذي عاد إليه المتصفح، ويخبرك بصاحب الحساب.',
      runLabel: (name) => `للتشغيل: ${name}`,
      signIn: html`<strong>يمكن لتطبيقك تسجيل دخول المستخدمين</strong> (<span dir="ltr">OpenID Connect</span>): أضف <code>openid</code> و<code>profile</code> و<code>email</code> إلى <code>scope</code>، وأرسل <code>nonce</code>. يحمل الرد على الرمز <code dir="ltr">id_token</code>. اعرف مستخدميك من <code>iss</code> و<code>sub</code> فيه.`,
      rules: {
        authentication: html`<strong>يثبت خادمك هويته</strong> بطريقة <code>client_secret_basic</code> أو <code>client_secret_post</code>، أو بطريقة <code>private_key_jwt</code> بمفتاح خاص به.`,
        publicApps: html`<strong>التطبيق العام</strong> لا سرّ له، ويجب أن يستخدم PKCE، وطريقة إثبات هويته <code>none</code>.`,
        pkce: html`<strong>PKCE</strong> مع <code>S256</code> يحمي كل تطبيق، ومعه يمكن الاستغناء عن <code>state</code>.`,
        issuer: html`<strong>كل عودة</strong> إلى تطبيقك تحمل <code>iss</code>، وتقارنه مكتبتك بجهة الإصدار.`,
        resource: html`<strong>رمزان لواجهة برمجية واحدة</strong> دون غيرها: سمِّ تلك الواجهة في <code>resource</code>.`,
        device: (device) =>
          html`<strong>الجهاز الذي لا متصفح فيه</strong> يطلب رمزًا من عنوان ربط الأجهزة، ثم يكتبه المستخدم في صفحة <code dir="ltr">${device}</code>.`,
        revocation: html`<strong>إلغاء</strong> أي من الرمزين ينهي كل ما صدر عن السماح نفسه.`,
        fastify: html`<strong>إضافة <code dir="ltr">@fastify/oauth2</code></strong> تحتاج إلى <code>scope</code> ولو كانت قيمته <code dir="ltr">[]</code>. وبدونه تختلق اسمًا، فيصلها الخطأ <code>invalid_scope</code>.`,
      },
      addresses: {
        heading: 'العناوين',
        issuer: 'جهة الإصدار (Issuer)',
        metadata: 'البيانات الوصفية',
        authorization: 'طلب الإذن',
        token: 'الرموز',
        revocation: 'إلغاء الرموز',
        pushedAuthorizationRequest: 'الطلبات المسبقة',
        deviceAuthorization: 'ربط الأجهزة',
        openApi: 'وصف OpenAPI',
      },
    },
    verify: {
      heading: 'التحقّق من الرموز في واجهتك البرمجية',
      text: html`الواجهة البرمجية التي تصلها هذه الرموز تسأل هذه الخدمة عن صلاحيتها. ولها معرّف وسرّ خاصان بها، تحصل عليهما من القائمين على هذه الخدمة. ولديهم أيضًا حزمة <code>@valetkey/verify</code> لبيئة Node.js، وهي ليست في سجلّ عام للحزم:`,
      label: 'مثال: واجهة برمجية بحزمة @valetkey/verify',
      byHand: 'وبأي لغة أخرى، اسأل عبر HTTP:',
      introspectionLabel: 'مثال: فحص رمز',
      answerLabel: 'الرد: فحص رمز',
      keep: html`لا تقبل رمزًا إلا إذا كان في الرد <code dir="ltr">"active": true</code>. اسأل في كل مرة، أو احتفظ بالرد ما دمت تستمع إلى إشعارات الإلغاء التي تصل خلال ربع ثانية، وهذا ما تفعله الحزمة.`,
      introspection: 'فحص الرموز',
      revocationStream: 'إشعارات الإلغاء',
    },
    calls: {
      heading: 'بأربعة طلبات تكتبها بنفسك',
      text: 'تكفي أربعة طلبات HTTP بسيطة، بالقيم الخمس المذكورة أعلاه.',
      authorizationUrl: 'عنوان طلب الإذن (Authorization URL)',
      accessTokenRequestUrl: 'عنوان طلب رمز الوصول (Access Token Request URL)',
      refreshTokenRequestUrl: 'عنوان طلب التجديد (Refresh Token Request URL)',
      setUp: 'تعمل الأمثلة في أي سطر أوامر بعد ملء هذه القيم:',
      setUpLabel: 'قيم الأمثلة',
      go: html`<strong>في لغة Go</strong> اضبط <code dir="ltr">AuthStyle: oauth2.AuthStyleInParams</code> في <code>Endpoint</code> الذي تستخدمه مكتبة <code dir="ltr">golang.org/x/oauth2</code>، لأن الخطوة 3 لا تقبل معرّف العميل وسرّه إلا في متن الطلب. واستخدم للخطوة 3 قيمة <code>Endpoint</code> ثانية يكون <code>TokenURL</code> فيها عنوان طلب التجديد.`,
    },
    authorize: {
      name: 'اطلب الإذن',
      heading: '1. اطلب الإذن',
      text: html`وجّه متصفح المستخدم إلى عنوان طلب الإذن. يجب أن يطابق <code>redirect_uri</code> أحد العناوين المسجّلة مطابقة تامة. أنشئ لكل زيارة قيمة <code>state</code> عشوائية جديدة، واحفظها في جلسة المستخدم.`,
      address: 'هذا هو العنوان الذي يُفتح، وفيه قيمك أنت:',
      addressLabel: 'العنوان الذي يُفتح',
      shell: 'وفي سطر الأوامر ينشئ هذا قيمة state ويطبع العنوان:',
      back: html`بعد «سماح» يعود المتصفح إلى <code>redirect_uri</code> ومعه <code>code</code> وقيمة <code>state</code>. قارن <code>state</code> بما حفظته، وتوقّف إن اختلفا. وبعد «رفض» يصلك <code>error=access_denied</code> بدلًا من الرمز.`,
      byHand: (lifetime) =>
        html`<strong>للتجربة يدويًا</strong> لا يلزم أن يستمع شيء على <code>redirect_uri</code>: يعرض المتصفح خطأ، ويبقى الرمز في شريط العنوان بعد <code dir="ltr">code=</code> وقبل <code dir="ltr">&amp;</code> التالية. انسخه خلال ${lifetime}.`,
      options: html`اختياري: <code>scope</code> وPKCE. ولاستخدام PKCE أرسل هنا <code>code_challenge</code> و<code>code_challenge_method=S256</code>، وفي الخطوة التالية <code>code_verifier</code>.`,
    },
    exchange: {
      name: 'احصل على الرمزين',
      heading: '2. احصل على الرمزين',
      text: (lifetime) =>
        html`استبدل <code>code</code> من خادمك فورًا، فمدته ${lifetime} وهو صالح مرة واحدة فقط. إن استُخدم مرتين انتهى كل ما صدر عنه. تُقبل النماذج وJSON هنا وفي الخطوة 3.`,
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
      restart: html`<strong>عند <code>invalid_grant</code></strong> لا تكرّر الطلب، فربما أزال المستخدم تطبيقك. اطلب الإذن من جديد.`,
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
      onTokens: html`من طلبات الرموز، بصيغة JSON وفيها <code>error</code> و<code>error_description</code>`,
      onMe: html`من الخطوة 4، بصيغة JSON وفيها <code>error.code</code> و<code>error.message</code>`,
      reasons: {
        heading: 'لماذا يُرفض رمز أو رمز تجديد',
        text: html`بعد أن يثبت تطبيقك سرّه، يبيّن <code>error_description</code> أيّ هذه الأسباب هو، ما دام الرمز يخص تطبيقك. وفي الواجهة القياسية يقود <code>error_uri</code> إلى هنا. أما التطبيق العام فلا يصله إلا <code>invalid_grant</code>. وما انتهى منذ زمن لا يبقى معروفًا، فيصله النص العام.`,
        kinds: {
          used: {
            term: 'سبق استخدامه',
            text: 'يذكر الوصف متى. وكثيرًا ما يكون السبب صفحة حُمّلت مرتين، أو طلبًا تكرّر، أو عمليتين لديهما رمزا تجديد مختلفان. احفظ أحدث رمز تجديد في مكان واحد.',
          },
          expired: {
            term: 'انتهت مدته',
            text: 'يذكر الوصف منذ متى. استبدل الرمز فور وصوله. وبعد انتهاء رمز التجديد اطلب الإذن من جديد.',
          },
          'redirect-uri': {
            term: html`قيمة <code>redirect_uri</code> مختلفة`,
            text: 'أرسل القيمة التي كانت في طلب الإذن حرفًا بحرف، ومعها المنفذ والشرطة الأخيرة والاستعلام.',
          },
          'code-verifier': {
            term: html`قيمة <code>code_verifier</code> مختلفة`,
            text: html`ليست القيمة التي حُسب منها <code>code_challenge</code>. احفظها في جلسة المستخدم من الخطوة الأولى إلى الثانية، ولا تنشئ غيرها بينهما.`,
          },
          ended: {
            term: 'انتهى الوصول',
            text: 'أُزيل الوصول، أو عُدّ أحد الرموز مسروقًا. اطلب الإذن من جديد عندما يستخدم تطبيقك مرة أخرى.',
          },
          paused: {
            term: 'موقوف مؤقتًا',
            text: 'لم ينتهِ شيء، وسيعمل الرمز نفسه لاحقًا. لا تسأل المستخدم من جديد، بل اسأل القائمين على هذه الخدمة.',
          },
        },
      },
      access_denied: 'اختار المستخدم «رفض». تابع دون وصول. ويعلم الجهاز بذلك عند طلبه التالي للرموز.',
      authorization_invalid_request: html`معامل ناقص أو غير صحيح أو مكرّر. والغالب أن <code>state</code> ناقص.`,
      invalid_scope: html`نطاق غير مسجّل لتطبيقك، ويسمّيه الوصف. وكثيرًا ما يكون <code>openid</code> أو <code>offline_access</code> تضيفه المكتبة من نفسها: احذفه.`,
      invalid_target: html`قيمة <code>resource</code> غير معروفة هنا، أو أُرسلت أكثر من قيمة.`,
      unsupported_response_type: html`يجب أن تكون قيمة <code>response_type</code> هي <code>code</code>.`,
      interaction: html`فقط مع <code>prompt=none</code>: لا بد أن يسجّل المستخدم الدخول أو أن يُسأل.`,
      invalid_request: html`معامل ناقص أو غير صحيح أو مكرّر، والوصف يبيّن أيها. 413: أكثر من 64 كيلوبايت. 415: ليس نموذجًا ولا JSON.`,
      invalid_client: 'معرّف العميل أو سرّه غير صحيح أو ملغى، أو أن تطبيقك موقوف مؤقتًا. لا تكرّر الطلب، بل تحقّق منهما.',
      invalid_grant:
        'الرمز غير صحيح أو منتهٍ أو مستخدَم أو مسحوب أو يخص تطبيقًا آخر، أو أن عنوان إعادة التوجيه مختلف. وقد يبيّن الوصف السبب.',
      unauthorized_client: 'تطبيقك غير مسجّل لهذا النوع من الطلبات. اسأل القائمين على هذه الخدمة.',
      unsupported_grant_type: html`قيمة <code>grant_type</code> ليست مما يعرفه هذا العنوان.`,
      pending: html`للأجهزة فقط: لم يقرّر أحد بعد. أعد الطلب بعد عدد الثواني الوارد في <code>interval</code>، وأضف إليه 5 ثوانٍ بعد كل <code>slow_down</code>.`,
      expired_token: 'للأجهزة فقط: انتهت مدة الرمز. احصل على رمز جديد.',
      temporarily_unavailable: html`طلبات كثيرة (429) أو انقطاع قصير (503). انتظر عدد الثواني الوارد في <code>Retry-After</code>، ثم أرسل الطلب نفسه، مع <code>client_assertion</code> جديد إن كان فيه واحد.`,
      missing_token: html`لا توجد ترويسة <code dir="ltr">Authorization: Bearer …</code>.`,
      invalid_token: 'رمز الوصول غير معروف أو منتهٍ أو مسحوب. جدّد مرة واحدة، فإن لم ينجح ذلك فاطلب الإذن من جديد.',
      page: 'إذا كان معرّف العميل غير معروف أو عنوان إعادة التوجيه غير مسجّل، فلا يعود المتصفح إليك، بل يرى المستخدم صفحة توضّح ذلك.',
    },
    limits: {
      heading: 'حدود الطلبات',
      text: html`يُرفض الطلب الذي يتجاوز الحد مع ترويستي <code>RateLimit</code> و<code>Retry-After</code> بالثواني. لا تُحتسب طلبات الرموز الناجحة. وتُحتسب كلمات المرور ورموز الأجهزة لشبكات كاملة أيضًا: لشبكة IPv6 ‏/56 أربعة أضعاف حد العنوان الواحد، ولشبكة IPv6 ‏/48 وشبكة IPv4 ‏/24 اثنان وثلاثون ضعفًا.`,
      kinds: {
        authorization: 'زيارات عنوان طلب الإذن، من عنوان شبكة واحد',
        public_pages: 'الصفحات والمستندات الأخرى، من عنوان شبكة واحد',
        client_authentication: 'بيانات عميل خاطئة، لتطبيق واحد من عنوان شبكة واحد',
        sign_in_account: 'كلمات مرور خاطئة، لحساب واحد من عنوان شبكة واحد',
        sign_in_address: 'كلمات مرور خاطئة، من عنوان شبكة واحد',
        device_code: 'رموز أجهزة خاطئة، من حساب واحد أو عنوان شبكة واحد',
      },
      rate: (count, seconds) => `${formats.number(count)} / ${formats.duration(seconds)}`,
    },
    help: 'واجهتك صعوبة؟',
  },

  errors: {
    goHome: 'الانتقال إلى الصفحة الرئيسية',
    developers: 'للمطوّرين',
    developersPage: (href) => html`كل العناوين والأخطاء: <a href="${href}">دليل المطوّرين</a>.`,
    meant: (address) => html`لعلّك تريد ${address}.`,
    received: 'ما وصلنا',
    requestId: 'رقم الطلب',
    quote: 'إذا طلبت المساعدة، فاذكر هذا الرقم من فضلك.',
    kinds: {
      missing_client_id: {
        heading: 'أي تطبيق هو؟',
        text: 'أرسلك إلى هنا تطبيق لم يذكر العنوان أي تطبيق هو.',
        now: 'لم تتم مشاركة أي شيء جديد. أغلق هذه الصفحة، أو عُد إلى التطبيق وأبلغ القائمين عليه.',
        developer: html`<code>client_id</code> ناقص أو فارغ أو مكرّر.`,
      },
      unknown_client: {
        heading: 'لا نعرف هذا التطبيق',
        text: 'أرسلك إلى هنا تطبيق غير مسجّل لدينا، أو لم يعد مسجّلًا.',
        now: 'لم تتم مشاركة أي شيء جديد. أغلق هذه الصفحة، أو عُد إلى التطبيق وأبلغ القائمين عليه.',
        developer: html`لا يوجد عميل مسجّل بهذا <code>client_id</code>.`,
      },
      unadmitted_client: {
        heading: 'لا نعرف هذا التطبيق',
        text: 'أرسلك إلى هنا تطبيق يعرّف بنفسه في العنوان المذكور أدناه، ولم يُقبل هنا.',
        now: 'لم تتم مشاركة أي شيء جديد. إذا أردت استخدام التطبيق، فاسأل القائمين على هذه الخدمة: يمكنهم قبوله.',
        developer: html`لا يوجد عميل مسجّل بهذا <code>client_id</code>، ولا نجلب عنوانًا غير مسجّل. أمر المشغّل هو <code>client register --from</code>.`,
      },
      missing_redirect_uri: {
        heading: 'توقّفنا حفاظًا على سلامتك',
        text: 'لم يذكر التطبيق الذي أرسلك إلى هنا العنوان الذي نوجّهك إليه.',
        now: 'لم تتم مشاركة أي شيء جديد. أغلق هذه الصفحة، أو عُد إلى التطبيق وأبلغ القائمين عليه.',
        developer: html`<code>redirect_uri</code> ناقص أو فارغ أو مكرّر، ويجب أن يكون أحد العناوين المسجّلة.`,
      },
      bad_redirect_uri: {
        heading: 'توقّفنا حفاظًا على سلامتك',
        text: 'طلب التطبيق الذي أرسلك إلى هنا توجيهك إلى عنوان غير مسجّل له.',
        now: 'لم تتم مشاركة أي شيء جديد. أغلق هذه الصفحة، أو عُد إلى التطبيق وأبلغ القائمين عليه.',
        developer: html`يجب أن يكون <code>redirect_uri</code> مطابقًا لأحد العناوين المسجّلة حرفًا بحرف. وأكثر ما يختلف: <code>localhost</code> بدل <code>127.0.0.1</code>، أو شرطة مائلة في النهاية، أو المنفذ.`,
      },
      bad_request_uri: {
        heading: 'لم يعد هذا الطلب صالحًا',
        text: 'جهّز التطبيق الذي أرسلك إلى هنا طلبه مسبقًا، لكننا لا نعرف هذا الطلب، أو انتهت مدّته.',
        now: 'لم تتم مشاركة أي شيء جديد. عُد إلى التطبيق وابدأ هناك من جديد.',
        developer: html`قيمة <code>request_uri</code> غير معروفة أو منتهية أو تخص عميلًا آخر. أرسل طلبًا مسبقًا جديدًا.`,
      },
      client_paused: {
        heading: 'هذا التطبيق موقوف مؤقتًا',
        text: 'لا يستطيع التطبيق الذي أرسلك إلى هنا الاتصال بالحسابات حاليًا.',
        now: 'لم تتم مشاركة أي شيء جديد. يُرجى المحاولة لاحقًا، أو سؤال القائمين على التطبيق.',
        developer: html`أوقف مشغّل الخدمة هذا العميل مؤقتًا.`,
      },
      dead_hand_over: {
        heading: 'لم يعد هذا العنوان يعمل',
        text: 'عنوان استلام السرّ يعمل مرة واحدة خلال 72 ساعة، إلى أن يحلّ محلّه عنوان أحدث أو يوقَف التسجيل أو يُنشأ له سرّ آخر.',
        now: 'اطلب عنوانًا جديدًا ممن أرسل إليك هذا العنوان.',
        developer: html`قيمة <code>token</code> في العنوان منتهية أو مستبدلة أو ملغاة أو غير معروفة.`,
      },
      two_secrets: {
        heading: 'يوجد سرّان بالفعل',
        text: 'لا يمكن أن يكون أكثر من سرّين صالحين في الوقت نفسه، ولذلك لا يستطيع هذا العنوان إنشاء سرّ آخر الآن.',
        now: 'اطلب ممن أرسل إليك هذا العنوان أن يلغي أحد السرّين، وأن يرسل عنوانًا جديدًا.',
        developer: 'لم يُنشأ شيء.',
      },
      dead_invitation: {
        heading: 'لم يعد هذا الرابط يعمل',
        text: 'رابط اختيار كلمة المرور يعمل مرة واحدة خلال 24 ساعة، إلى أن يُنشأ رابط أحدث.',
        now: 'هل اخترت كلمة المرور من قبل؟ سجّل الدخول بها. وإن لم تعمل، فاطلب رابطًا جديدًا ممن أرسل إليك هذا الرابط.',
        developer: html`قيمة <code>token</code> في العنوان مستخدمة أو منتهية أو مستبدلة أو غير معروفة.`,
      },
      plain_http: {
        heading: 'تتطلب هذه الصفحة اتصالًا آمنًا',
        text: 'فُتحت الصفحة عبر http غير المشفّر، حيث يمكن للآخرين قراءة ما ترسله.',
        now: 'افتح العنوان نفسه مرة أخرى مبتدئًا بـ ‎https://‎.',
        developer: html`قيمة <code>X-Forwarded-Proto</code> من الخادم الوكيل هي <code>http</code>.`,
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
        developer: html`لا يوجد في هذه الخدمة شيء عند هذا المسار.`,
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
      not_a_window: {
        heading: 'تُفتح هذه الصفحة في نافذة خاصة بها',
        text: 'طلبها برنامج نصي أو إطار أو عامل خدمة، وكان بإمكانه قراءتها أو الضغط على أزرارها بدلًا منك.',
        now: 'لم يتغيّر شيء. أعد تحميل الصفحة مع الضغط على مفتاح Shift، أو ابدأ من جديد من التطبيق أو الصفحة التي كنت تستخدمها.',
        developer: html`استخدم روابط عادية إلى صفحاتنا، ولا ترسل النماذج إلا منها. ويجب أن يترك عامل الخدمة عناويننا للمتصفح.`,
      },
      sign_in_dead: {
        heading: 'لا يمكن إكمال تسجيل الدخول هذا هنا',
        text: 'اكتمل من قبل، أو استغرق وقتًا طويلًا، أو بدأ في متصفّح آخر.',
        now: 'لم تُشارَك أيّ بيانات. ابدأ من جديد في هذا المتصفّح: عُد إلى التطبيق أو الصفحة التي أتيت منها.',
        developer: html`التذكرة صالحة لمدّة دقيقة، في المتصفّح الذي بدأ تسجيل الدخول واحتفظ بملفّات تعريف الارتباط.`,
      },
      sign_in_disabled: {
        heading: 'لا يمكنك تسجيل الدخول الآن',
        text: 'لا يمكن استخدام حسابك هنا.',
        now: 'اسأل القائمين على هذه الخدمة عن السبب.',
        developer: html`الحساب معطّل، أو لا يُسمح له بتسجيل الدخول بهذه الطريقة.`,
      },
      sign_in_too_old: {
        heading: 'سجّل الدخول من جديد من فضلك',
        text: 'يطلب التطبيق الذي أرسلك إلى هنا تسجيل دخول حديثًا، لكنّك سجّلت الدخول منذ وقت طويل.',
        now: 'سجّل الخروج من المنتج الذي أتيت منه، ثمّ سجّل الدخول إليه مرّة أخرى، وعُد إلى التطبيق.',
        developer: html`<code>auth_time</code> أقدم ممّا يسمح به <code>prompt=login</code> أو <code>max_age</code>.`,
      },
      sign_in_denied: {
        heading: 'لم تسجّل الدخول',
        text: 'يجب أن تسجّل الدخول لترى هذه الصفحة.',
        now: 'لم تُشارَك أيّ بيانات. عُد إلى حيث كنت، أو إلى صفحة البداية.',
        developer: html`قال مزوّد الهويّة <code>access_denied</code>.`,
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
