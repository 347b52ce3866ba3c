#!/usr/bin/env python3
"""Runs a workload of matching_workload.py on mokaccino (PyPI), to compare with.

Usage:

    matching_mokaccino.py DIRECTORY SECONDS

Makes a query of each subscription that fires on creations, checks the first events against
expected.txt and matches events for so many seconds. Documents are made before; prices are compared
in cents, for mokaccino compares integers. Prints one line of JSON: queries, added (a second),
events (a second), and missing and extra, the share of the expected matches that it does not find
and of its own that are not expected. Ends with 3 when mokaccino is not installed.
"""

import json
import sys
import time

try:
    from mokaccino import Document, Percolator, Query
except ImportError:
    sys.exit(3)


def cents(price):
    return round(price * 100)


def query(flt):
    name, comparator = flt["fieldName"], flt["comparator"]
    value = flt["fieldValue"]["value"]
    if comparator in ("EQUALS", "LIST_CONTAINS"):
        return Query.from_kv(name, value)
    if comparator == "IN":
        return either([Query.from_kv(name, one) for one in value])
    if comparator == "LESS_THAN":
        return Query.from_klt(name, cents(value))
    if comparator == "GREATER_THAN_OR_EQUALS":
        return Query.from_kge(name, cents(value) if name == "price" else value)
    if comparator == "BEGINS_WITH":
        return Query.from_kprefix(name, value)
    if comparator == "CONTAINS_ALL_TOKENS":
        return both([Query.from_kv("word", word) for word in value.split()])
    if comparator == "NEAR":
        return Query.from_latlng_within(
            name, value["latitude"], value["longitude"], round(flt["distance"]))
    raise ValueError(comparator)


def either(queries):
    combined = queries[0]
    for other in queries[1:]:
        combined = combined | other
    return combined


def both(queries):
    combined = queries[0]
    for other in queries[1:]:
        combined = combined & other
    return combined


def document(fields):
    values = Document()
    for name, field in fields.items():
        value = field["value"]
        if field["type"] == "STRING_LIST":
            for element in value:
                values.add_value(name, element)
        elif field["type"] == "LOCATION":
            values.add_value(name, f"{value['latitude']},{value['longitude']}")
        elif name == "price":
            values.add_value(name, str(cents(value)))
        else:
            values.add_value(name, str(value))
    for word in set(fields["title"]["value"].split()):
        values.add_value("word", word)
    return values


def main():
    directory, seconds = sys.argv[1], float(sys.argv[2])
    percolator = Percolator()
    identifiers = []
    adding = 0.0
    with open(f"{directory}/subscriptions.jsonl", encoding="utf-8") as lines:
        for line in lines:
            subscription = json.loads(line)
            if "create" not in subscription["firesOn"]:
                continue
            one = both([query(flt) for flt in subscription["query"]["filterBy"]])
            begin = time.perf_counter()
            percolator.add_query_id(one, len(identifiers))
            adding += time.perf_counter() - begin
            identifiers.append(subscription["subscriptionID"])

    with open(f"{directory}/events.jsonl", encoding="utf-8") as lines:
        documents = [document(json.loads(line)["record"]["fields"]) for line in lines]

    expected = found = missing = extra = 0
    with open(f"{directory}/expected.txt", encoding="utf-8") as lines:
        for one, line in zip(documents, lines):
            wanted = set(line.split("\t")[1].split())
            got = {identifiers[number] for number in percolator.percolate_list(one)}
            expected += len(wanted)
            found += len(got)
            missing += len(wanted - got)
            extra += len(got - wanted)

    events = 0
    begin = last = time.perf_counter()
    while last - begin < seconds:
        for one in documents:
            percolator.percolate_list(one)
            events += 1
            last = time.perf_counter()
            if last - begin >= seconds:
                break
    print(json.dumps({
        "queries": len(identifiers), "added": len(identifiers) / max(adding, 1e-9),
        "events": events / (last - begin), "missing": missing / max(expected, 1),
        "extra": extra / max(found, 1)}))


if __name__ == "__main__":
    main()
