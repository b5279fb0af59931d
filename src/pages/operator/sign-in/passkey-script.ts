/**
 * The script of the operators' pages that use a passkey: only a script can. It asks the browser with the options in the
 * form, puts the answer into the form, and sends the form. A page that was open for long gets a new challenge, unless it answered
 * a form, which would be lost.
 */
export const passkeyScript = `'use strict';
const form = document.querySelector('form[data-ceremony]');
const { ceremony, options, posted } = form.dataset;
const button = form.querySelector('button');
const problem = document.getElementById('problem-here');
const NEW_CHALLENGE_MS = 270000;

let isBusy = false;

const WORDS = {
  NotAllowedError: 'No passkey was used: you canceled, it took too long, or this device has none for this address. Try again.',
  InvalidStateError: 'This device already has a passkey of yours for this address. Use another device.',
  SecurityError: 'The address of this page is not the one that passkeys are set up for (VALETKEY_OPERATOR_URL).',
  TooOld: 'This browser is too old for passkeys. Update it, or use another one.',
};

function show(error) {
  problem.querySelector('span').textContent = WORDS[error.name] || 'The browser says: ' + error.name + '.';
  problem.hidden = false;
}

function passkeyFor(json) {
  const { PublicKeyCredential: type } = window;
  if (!type || !type.parseCreationOptionsFromJSON || !type.parseRequestOptionsFromJSON) throw { name: 'TooOld' };
  const parsed = JSON.parse(json);
  return ceremony === 'create'
    ? navigator.credentials.create({ publicKey: type.parseCreationOptionsFromJSON(parsed) })
    : navigator.credentials.get({ publicKey: type.parseRequestOptionsFromJSON(parsed) });
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (isBusy) return;
  isBusy = true;
  problem.hidden = true;
  button.setAttribute('aria-disabled', 'true');
  try {
    form.elements.answer.value = JSON.stringify(await passkeyFor(options));
    form.submit();
  } catch (error) {
    show(error);
    isBusy = false;
    button.removeAttribute('aria-disabled');
  }
});

function renew() {
  if (!isBusy && !document.hidden && performance.now() > NEW_CHALLENGE_MS) location.replace(location.href);
}
if (posted === undefined) {
  document.addEventListener('visibilitychange', renew);
  setInterval(renew, 30000);
}
`;
