import CloudKit
import CloudKitModel
import JSONCoding
import Testing

@testable import WebServices

/// Where an example is tried.
struct PredicateContext: Hashable, CaseIterable {
  enum Use: String, CaseIterable {
    case query
    case subscription
  }

  var use: Use
  var scope: CKDatabase.Scope

  static let allCases = Use.allCases.flatMap { use in
    [CKDatabase.Scope.public, .private].map { PredicateContext(use: use, scope: $0) }
  }

  var databaseName: String { scope == .public ? "public" : "private" }
}

/// The result that a server gave for an example.
enum PredicateOutcome: Hashable {
  /// A query found these records; a subscription was saved.
  case accepted(found: [String]?)
  case refused(code: String, rule: String)
  /// The program stops before there is a request.
  case stopped

  var isAccepted: Bool {
    if case .accepted = self { true } else { false }
  }
}

/// Tries examples on a server whose databases have one record, `sample`.
struct PredicateTrial {
  static let recordType = "Sample"

  let container: CKContainer
  let web: WebCaller

  init(_ fields: [SampleField], in cloud: Cloud) async throws {
    container = try await cloud.container(of: "anna", device: "phone")
    web = try await WebCaller(of: "anna", in: cloud)
    for scope in [CKDatabase.Scope.public, .private] {
      try await container.database(with: scope).save(
        CKRecord(
          Self.recordType, "sample",
          Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.saved) })))
    }
  }

  /// As an app does it.
  func native(
    _ example: PredicateExample, _ context: PredicateContext
  ) async throws -> PredicateOutcome {
    let database = container.database(with: context.scope)
    let predicate = example.predicate
    do {
      switch context.use {
      case .query:
        // CKQuery itself stops the program; a test of its own sees that.
        if example.format.contains(" OR ") { return .stopped }
        let query = CKQuery(recordType: Self.recordType, predicate: predicate)
        let (found, _) = try await database.records(matching: query)
        return .accepted(found: found.map(\.0.recordName))
      case .subscription:
        try await database.subscribe("example", to: Self.recordType, where: predicate)
        return .accepted(found: nil)
      }
    } catch let error as CKError {
      return .refused(code: error.code.caseName, rule: Self.rule(error, of: predicate))
    }
  }

  /// As a program does it over Web Services; nil where they have no way to say it.
  func overWeb(
    _ example: PredicateExample, _ context: PredicateContext
  ) async throws -> PredicateOutcome? {
    guard let filters = example.filters else { return nil }
    let query: JSONValue = [
      "recordType": .string(Self.recordType),
      "filterBy": try JSONValue(parsing: Data(Self.json(of: filters).utf8)),
    ]
    do {
      switch context.use {
      case .query:
        let answer = try await web.post(
          "\(context.databaseName)/records/query", ["query": query], root: "database")
        let records = try #require(answer["records"]?.array, "\(answer.text)")
        return .accepted(found: records.compactMap { $0["recordName"]?.string })
      case .subscription:
        let answer = try await web.post(
          "\(context.databaseName)/subscriptions/modify",
          [
            "operations": [
              [
                "operationType": "create",
                "subscription": [
                  "subscriptionID": "web", "subscriptionType": "query", "firesOn": ["create"],
                  "query": query, "notificationInfo": ["alertBody": "New"],
                ],
              ]
            ]
          ], root: "database")
        let subscription = try #require(answer["subscriptions"]?.array?.first, "\(answer.text)")
        return Self.refusal(subscription) ?? .accepted(found: nil)
      }
    } catch let error as WebCaller.Refused {
      let json = try JSONValue(parsing: Data(error.answer.utf8))
      guard let refusal = Self.refusal(json) else { throw error }
      return refusal
    }
  }

  private static func refusal(_ json: JSONValue) -> PredicateOutcome? {
    json["serverErrorCode"]?.string.map { code in
      let reason = json["reason"]?.string ?? ""
      return .refused(code: code, rule: withoutPlace(reason))
    }
  }

  /// The reason without the predicate that it names.
  private static func rule(_ error: CKError, of predicate: NSPredicate) -> String {
    var reason = withoutPlace(error.localizedDescription)
    reason.replace("the predicate cannot be searched for: ", with: "", maxReplacements: 1)
    let predicate = ": " + predicate.canonicalFormat
    return reason.hasSuffix(predicate) ? String(reason.dropLast(predicate.count)) : reason
  }

  /// The reason without the place in the request, which is another for a query than for a
  /// subscription.
  private static func withoutPlace(_ reason: String) -> String {
    reason.replacing(#/^(operations\[0\]\.subscription\.)?query(\.filterBy\[\d\])?: /#, with: "")
  }

  /// `filterBy` as the client writes it.
  static func json(of filters: [Filter]) -> String {
    var writer = JSONWriter()
    writer.array { writer in
      for filter in filters {
        filter.write(to: &writer, context: MessageContext(ownerNaming: .explicit))
      }
    }
    return writer.text
  }
}
