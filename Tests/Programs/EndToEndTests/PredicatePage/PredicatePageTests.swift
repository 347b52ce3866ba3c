import CloudKit
import CloudKitModel
import Testing

/// docs/reference/predicates.md says what a server answers to each of its examples.
struct PredicatePageTests {
  @Test("docs/reference/predicates.md says what a server answers to its examples")
  func page() async throws {
    var text = ""
    try await withFiles { files in
      let fields = SampleField.all(try (1...3).map { try files.make(size: $0) })
      try await Cloud.run { cloud in
        let trial = try await PredicateTrial(fields, in: cloud)
        let user = try await trial.container.userRecordID().recordName
        var page = PredicatePage(fields: fields)
        for item in PredicateOperatorExamples.all {
          var entries: [PredicatePage.Entry] = []
          for field in fields {
            entries.append(try await tried(item.example(field), field, by: trial))
          }
          page.operators.append((item, entries))
        }
        for example in PredicateExample.others(user: user) {
          page.others.append(try await tried(example, nil, by: trial))
        }
        // The user's name is another in each run.
        text = page.text.replacing(user, with: "_user")
      }
    }
    if ProcessInfo.processInfo.environment["PETREL_WRITE_PAGES"] != nil {
      try text.write(to: PredicatePage.file, atomically: true, encoding: .utf8)
    }
    let written = try String(contentsOf: PredicatePage.file, encoding: .utf8)
    let differing = zip(
      text.split(separator: "\n", omittingEmptySubsequences: false),
      written.split(separator: "\n", omittingEmptySubsequences: false)
    ).first { $0 != $1 }
    // The texts themselves would fill the screen.
    let isUpToDate = text == written
    #expect(
      isUpToDate,
      """
      docs/reference/predicates.md is not what the server answers; \(PredicatePage.command) writes it anew. The first line that differs:
      now:     \(differing?.0 ?? "(the end)")
      written: \(differing?.1 ?? "(the end)")
      """)
  }

  @Test("an OR stops the program when the query is made")
  func alternatives() async {
    await #expect(processExitsWith: .failure) {
      _ = CKQuery(
        recordType: "Sample", predicate: NSPredicate(format: "string == 'Suva' OR int64 > 5"))
    }
  }

  /// Tries an example everywhere, and looks whether what is accepted does what the page says.
  private func tried(
    _ example: PredicateExample, _ field: SampleField?, by trial: PredicateTrial
  ) async throws -> PredicatePage.Entry {
    var entry = PredicatePage.Entry(field: field, example: example)
    for context in PredicateContext.allCases {
      let outcomes = [
        try await trial.native(example, context), try await trial.overWeb(example, context),
      ]
      entry.native[context] = outcomes[0]
      entry.web[context] = outcomes[1]
      for case .accepted(let found?) in outcomes {
        #expect(found == (example.findsSample ? ["sample"] : []), "\(example.format)")
      }
    }
    if let filters = example.filters, entry.native.values.allSatisfy(\.isAccepted) {
      #expect(
        PredicateTrial.json(of: filters)
          == PredicateTrial.json(of: try example.predicate.filters(now: .now)), "\(example.format)")
    }
    return entry
  }
}
