import CloudKit
import CloudKitModel
import RepositoryFiles

/// The page docs/reference/predicates.md, made from the results of its examples.
struct PredicatePage {
  /// An example with what became of it.
  struct Entry {
    var field: SampleField?
    var example: PredicateExample
    var native: [PredicateContext: PredicateOutcome] = [:]
    /// Empty where Web Services cannot say it.
    var web: [PredicateContext: PredicateOutcome] = [:]

    private var outcomes: [PredicateOutcome] { Array(native.values) + Array(web.values) }
    var isAccepted: Bool { outcomes.allSatisfy(\.isAccepted) }
    var isRefused: Bool { !outcomes.contains(where: \.isAccepted) }
  }

  var fields: [SampleField]
  var operators: [(operator: PredicateOperatorExamples, entries: [Entry])] = []
  var others: [Entry] = []

  static let file = RepositoryFile.url("docs/reference/predicates.md")

  static let command = "make predicates"

  var text: String {
    ([Self.introduction, sample, overview] + operators.map(section) + [otherPredicates])
      .joined(separator: "\n")
  }

  private static let introduction = """
    # Predicates

    Which predicates a query and a subscription accept, for each operator and type of field, with an example of each: as an app
    writes it for `CKQuery` and `CKQuerySubscription`, and as `filterBy` of Web Services. What a filter means is in
    [queries.md](queries.md#what-a-filter-means).

    A test writes this page from what a server answered: it runs each example as a query and as a subscription, in the public and in
    the private database, with the client on Linux and over Web Services. Where these differ, the page says so. `\(command)` writes
    the page anew; `make test` fails when the page is not what the server answers.

    An error is given by its code and its rule. Of several fields with the same rule it is the first one's. The client names the
    predicate besides, and Web Services the place in the request.

    """

  // MARK: The sample

  private var sample: String {
    let rows = fields.map { field in
      "| `\(field.name)` | `\(field.type)` | \(value(of: field)) |"
    }
    return """
      ## The record of the examples

      Each query looks for this record, and finds it unless its row says otherwise. A name without quotes in an example is a
      variable. `earlier`, `noon` and `later` are dates, `apia`, `suva` and `tonga` locations. `suvaReference` is a reference to
      the record `suva`, and others are named likewise. `data` and `highData` hold a byte each, `asset` and `highAsset` a file.
      `recordID` is the ID of this record, `userRecordID` that of its creator.

      | field | type | value |
      | --- | --- | --- |
      \(rows.joined(separator: "\n"))

      """
  }

  private func value(of field: SampleField) -> String {
    let values = field.type.isList ? [field.own, field.high] : [field.own]
    let text = values.map { $0.argument?.name ?? $0.format.replacing("'", with: "\"") }
      .joined(separator: ", ")
    return field.type.isList ? "`[\(text)]`" : "`\(text)`"
  }

  // MARK: Operators

  private var overview: String {
    let types = ValueType.allCases
    let rows = operators.map { item in
      let cells = types.map { type in
        let accepted = item.entries.filter {
          $0.field?.type.element == type && !$0.isRefused
        }.compactMap { $0.field?.type.isList }
        return switch (accepted.contains(false), accepted.contains(true)) {
        case (true, true): "both"
        case (true, false): "single"
        case (false, true): "list"
        case (false, false): "–"
        }
      }
      return "| `\(item.operator.name)` | \(cells.joined(separator: " | ")) |"
    }
    return """
      ## Operators and types

      Whether an operator is accepted for a field with a single value of a type, for a field with a list, or for both.

      | operator | \(types.map { "`\($0.rawValue)`" }.joined(separator: " | ")) |
      | --- |\(types.map { _ in " --- |" }.joined())
      \(rows.joined(separator: "\n"))

      """
  }

  private func section(
    _ item: (operator: PredicateOperatorExamples, entries: [Entry])
  ) -> String {
    var text = "## `\(item.operator.name)`\n\nOver Web Services: \(item.operator.comparator).\n"
    let accepted = item.entries.filter(\.isAccepted)
    if !accepted.isEmpty {
      text += "\n| field | predicate | `filterBy` |\n| --- | --- | --- |\n"
      for entry in accepted {
        text += "| `\(entry.field?.name ?? "")` | `\(entry.example.code)` | `\(json(entry))` |\n"
      }
    }
    let refused = grouped(item.entries.filter { !$0.isAccepted })
    if !refused.isEmpty {
      text += "\n| refused for | with the client | over Web Services |\n| --- | --- | --- |\n"
      for group in refused {
        let names = group.map { "`\($0.field?.name ?? "")`" }.joined(separator: ", ")
        text += "| \(names) | \(summary(group[0].native)) | \(summary(group[0].web)) |\n"
      }
    }
    return text
  }

  /// Entries with the same answers, but for the names of fields and types in them.
  private func grouped(_ entries: [Entry]) -> [[Entry]] {
    var groups: [(key: String, entries: [Entry])] = []
    for entry in entries {
      var key = summary(entry.native) + summary(entry.web)
      key.replace("'\(entry.field?.name ?? "")'", with: "")
      for type in ValueType.allCases.sorted(by: { $0.rawValue.count > $1.rawValue.count }) {
        for name in [FieldType.list(of: type).name, type.rawValue] {
          key.replace(name, with: "TYPE")
        }
      }
      if let index = groups.firstIndex(where: { $0.key == key }) {
        groups[index].entries.append(entry)
      } else {
        groups.append((key, [entry]))
      }
    }
    return groups.map(\.entries)
  }

  // MARK: Others

  private var otherPredicates: String {
    let rows = others.map { entry in
      let filters = entry.web.isEmpty ? "–" : "`\(json(entry))`"
      return "| `\(entry.example.code)` | \(summary(entry.native)) | \(filters) | "
        + "\(entry.web.isEmpty ? "cannot be said" : summary(entry.web)) |"
    }
    return """
      ## Other predicates

      Predicates of several parts, of the record itself and of its system fields, and those that CloudKit does not search for.

      | predicate | with the client | `filterBy` | over Web Services |
      | --- | --- | --- | --- |
      \(rows.joined(separator: "\n"))

      """
  }

  // MARK: Cells

  private func json(_ entry: Entry) -> String {
    cell(PredicateTrial.json(of: entry.example.filters ?? []))
  }

  /// Returns one sentence if the result is the same for all uses and databases.
  private func summary(_ outcomes: [PredicateContext: PredicateOutcome]) -> String {
    func common(_ contexts: [PredicateContext]) -> String? {
      let texts = Set(contexts.compactMap { outcomes[$0].map(text) })
      return texts.count == 1 ? texts.first : nil
    }
    if let text = common(PredicateContext.allCases) { return text }
    return PredicateContext.Use.allCases.map { use in
      let contexts = PredicateContext.allCases.filter { $0.use == use }
      if let text = common(contexts) { return "\(use.rawValue): \(text)" }
      return contexts.map { "\(use.rawValue), \($0.databaseName): \(common([$0]) ?? "")" }
        .joined(separator: "; ")
    }.joined(separator: "; ")
  }

  private func text(_ outcome: PredicateOutcome) -> String {
    switch outcome {
    case .accepted(found: []): "accepted, does not find the sample"
    case .accepted: "accepted"
    case .refused(let code, let rule): "`\(code)`: \(cell(rule))"
    case .stopped: "the program stops"
    }
  }

  private func cell(_ text: String) -> String {
    text.replacing("|", with: "\\|").replacing("\n", with: " ")
  }
}
