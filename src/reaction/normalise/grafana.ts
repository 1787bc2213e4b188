import type { NormalEvent } from '../../domain/events/event.ts';
import { alertGroup } from './alertmanager.ts';
import { genericOf } from './generic.ts';
import { makeEvent, said } from './make-event.ts';
import { type Fields, flatFields, isBodyless, isFields, normalisedOne, type Normaliser, parseJson } from './payload.ts';
import { statusOf } from './status.ts';

/**
 * Grafana's unified alerting (version 1), the alerting before Grafana 9, and the output of a custom template, read as
 * generic.
 */
export const grafana: Normaliser = (payload) => {
  if (isBodyless(payload)) return genericOf(flatFields(payload), 'grafana');
  const body = parseJson(payload.bytes);
  const group = alertGroup(body, 'grafana', links);
  if (group !== null) return group;
  return isFields(body) && 'state' in body && ('ruleId' in body || 'evalMatches' in body)
    ? normalisedOne(legacy(body))
    : genericOf(body, 'grafana');
};

/**
 * Fields of an alert beyond Alertmanager's. The picture is left out: it is the image itself, or a signed URL, which is
 * a credential.
 */
function links({ dashboardURL, panelURL, silenceURL, valueString, ruleUID }: Fields): Fields {
  return {
    dashboard_url: dashboardURL,
    panel_url: panelURL,
    silence_url: silenceURL,
    value_string: valueString,
    rule_uid: ruleUID,
  };
}

function legacy(body: Fields): NormalEvent {
  const { ruleId, ruleName, ruleUrl, state, message, title, tags } = body;
  const name = typeof ruleName === 'string' && ruleName !== '' ? ruleName : title;
  return makeEvent({
    source: 'grafana',
    name,
    status: statusOf(state),
    identity: [ruleId ?? name],
    labels: isFields(tags) ? tags : {},
    annotations: said({ message, title, state, rule_url: ruleUrl }),
  });
}
