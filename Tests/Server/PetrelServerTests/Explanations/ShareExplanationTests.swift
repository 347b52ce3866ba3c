import CloudKitModel
import Explanation
import Foundation
import JSONCoding
import StoreModel
import Testing
import Waiting

@testable import PetrelServer

/// Why a participant of a share did or did not learn of a change in the owner's private database.
struct ShareExplanationTests {
  /// Alice, who shares the record `list` of a zone with Bob, and Bob's database subscriptions.
  private struct Stage {
    let service: Service
    let guid: String

    init(_ service: Service) async throws {
      self.service = service
      try await service.makeZone("Notes")
      for (id, type) in [("all", ""), ("tasks", #", "recordType": "Task""#)] {
        try await service.subscribe(
          #"{"subscriptionID": "\#(id)", "subscriptionType": "database"\#(type)}"#, in: "shared",
          as: service.bob)
      }
      // Without it, only changes that a share shows are kept.
      try await service.subscribe(
        #"{"subscriptionID": "mine", "subscriptionType": "database"}"#, in: "private")
      guid = try #require(
        try await Self.save(
          service, Service.operation("create", "list", zone: "Notes"),
          Self.share("create", with: [service.bob.recordName], root: true),
          Service.operation("create", "other", zone: "Notes"))[1]["shortGUID"]?.string)
    }

    static func share(_ kind: String, with users: [String], root: Bool = false) -> String {
      let participants = users.map {
        """
        {"type": "USER", "permission": "READ_WRITE", "acceptanceStatus": "INVITED",
         "userIdentity": {"userRecordName": "\($0)"}}
        """
      }.joined(separator: ", ")
      return """
        {"operationType": "\(kind)", "record": {"recordName": "s", "recordType": "cloudkit.share",
         "zoneID": {"zoneName": "Notes"}, \(root ? #""forRecord": {"recordName": "list"},"# : "")
         "fields": {}, "participants": [\(participants)]}}
        """
    }

    @discardableResult
    static func save(_ service: Service, _ operations: String...) async throws -> Answer {
      let answer = try await service.post(
        "private/records/modify", #"{"operations": [\#(operations.joined(separator: ", "))]}"#,
        as: service.alice)
      try #require(answer.outcomes.allSatisfy { $0 == "ok" }, "\(answer.json)")
      return answer
    }

    func accept() async throws {
      let answer = try await service.post(
        "public/records/accept", #"{"shortGUIDs": ["\#(guid)"]}"#, as: service.bob)
      try #require(answer.json["results"]?.array?.first?["share"] != nil, "\(answer.json)")
    }

    /// Changes a record, and returns the explanation of the change for Bob.
    func explanationOfChange(of name: String) async throws -> ChangeExplanation {
      try await Self.save(service, Service.operation("forceUpdate", name, zone: "Notes"))
      return try await explanation(of: name)
    }

    func explanation(
      of name: String, question: Explainer.Question? = nil
    ) async throws -> ChangeExplanation {
      let database = try await service.privateDatabase()
      let explainer = Explainer(store: service.store)
      let recordID = RecordID(recordName: name, zoneID: ZoneID(zoneName: "Notes"))
      var change: ChangeExplanation?
      try await eventually("the change is dispatched") {
        change = try await explainer.explain(
          recordID, in: database, about: question ?? .init(subscriber: service.bob.recordName)
        ).changes.first
        return change?.dispatched != nil
      }
      return try #require(change)
    }
  }

  /// The subscriptions that fired, and those that did not with their first reasons.
  private func summary(_ explanation: ChangeExplanation) -> [String] {
    explanation.notifications.map {
      "\($0.entry.notification.subscription.subscriptionID) fired"
    }
      + explanation.silent.map {
        "\($0.subscriptionID) \($0.reasons.map(\.code.rawValue).joined(separator: " "))"
      }
  }

  @Test("a participant's notifications and silences have their reasons")
  func reasons() async throws {
    try await withService { service in
      let stage = try await Stage(service)
      #expect(
        summary(try await stage.explanationOfChange(of: "list"))
          == ["all notAccepted", "tasks notAccepted recordType"])
      try await stage.accept()
      #expect(
        summary(try await stage.explanationOfChange(of: "list"))
          == ["all fired", "tasks recordType"])
      #expect(
        summary(try await stage.explanationOfChange(of: "other"))
          == ["all outsideHierarchy", "tasks outsideHierarchy recordType"])
      // Without a subscriber, the participants who learned of the change are in the explanation too.
      let whole = try await stage.explanation(of: "list", question: .init())
      #expect(summary(whole) == ["mine fired", "all fired", "tasks recordType"])

      try await Stage.save(service, Stage.share("forceUpdate", with: []))
      let removed = try await stage.explanationOfChange(of: "list")
      #expect(summary(removed) == ["all notParticipant", "tasks notParticipant recordType"])
      let text = try #require(removed.silent.first?.reasons.first?.text)
      #expect(text.hasPrefix("the record is not shared with the user since 20"))
      #expect(summary(try await stage.explanation(of: "s")) == ["all fired", "tasks recordType"])
    }
  }

  @Test("a subscription of another database, or of none, has its reason")
  func otherSubscriptions() async throws {
    try await withService { service in
      let stage = try await Stage(service)
      try await stage.accept()
      try await service.subscribe(
        #"{"subscriptionID": "own", "subscriptionType": "database"}"#, in: "private",
        as: service.bob)
      _ = try await stage.explanationOfChange(of: "list")
      for (id, code) in [
        ("own", SilenceReason.Code.otherDatabase), ("never", .unknownSubscription),
      ] {
        let explanation = try await stage.explanation(
          of: "list",
          question: .init(subscriber: service.bob.recordName, subscriptionID: id))
        #expect(explanation.silent.map { $0.reasons.map(\.code) } == [[code]])
      }
    }
  }
}
