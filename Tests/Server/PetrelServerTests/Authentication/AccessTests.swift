import CloudKitModel
import Foundation
import JSONCoding
import Testing

@testable import PetrelServer

struct AccessTests {
  private static let own = RecordGrants(["_creator": [.read, .write], "_icloud": .create])

  @Test("what only creators may read is refused to others by item, and gives anonymous ones 421")
  func lookup() async throws {
    try await withService { service in
      try await service.grant(Self.own)
      _ = try await service.modify(Service.operation("create", "a"))
      _ = try await service.modify(Service.operation("create", "b"), as: service.bob)
      #expect(
        try await service.lookup("a", "b", "c").outcomes == ["ok", "ACCESS_DENIED", "NOT_FOUND"])
      let bob = try await service.lookup("a", "b", as: service.bob)
      #expect(bob.outcomes == ["ACCESS_DENIED", "ok"])
      #expect(bob[0].reason.contains("no role of this caller has READ"), "\(bob[0])")
      #expect(bob[0]["fields"] == nil && bob[0]["serverRecord"] == nil)
      let nobody = try await service.post(
        "public/records/lookup", #"{"records": [{"recordName": "a"}]}"#, as: nil)
      #expect(nobody.failure == "421 AUTHENTICATION_REQUIRED")
    }
  }

  @Test("a query gives one's own records, all of them, on pages of any size")
  func query() async throws {
    try await withService { service in
      try await service.grant(Self.own)
      for start in [0, 30] {
        _ = try await service.post(
          "public/records/modify",
          #"{"operations": ["#
            + (start..<start + 30).map { Service.operation("create", "n\($0)") }
            .joined(separator: ",") + "]}",
          as: start == 0 ? service.alice : service.bob)
      }
      for limit in [1, 7, 200] {
        for (user, expected) in [(service.alice, 0..<30), (service.bob, 30..<60)] {
          for sort in ["", #", "sortBy": [{"systemFieldName": "createdTimestamp"}]"#] {
            var names: [String] = []
            var marker = ""
            repeat {
              let page = try await service.post(
                "public/records/query",
                #"{"query": {"recordType": "Note"\#(sort)}, "resultsLimit": \#(limit)\#(marker)}"#,
                as: user)
              #expect(page.status == 200 && page.items.count <= limit, "\(page.json)")
              names += page.items.map(\.name)
              marker =
                page.json["continuationMarker"]?.string.map {
                  #", "continuationMarker": "\#($0)""#
                } ?? ""
            } while !marker.isEmpty
            #expect(names.sorted() == expected.map { "n\($0)" }.sorted(), "\(limit) \(sort)")
          }
        }
      }
      let nobody = try await service.post(
        "public/records/query", #"{"query": {"recordType": "Note"}}"#, as: nil)
      #expect(nobody.failure == "421 AUTHENTICATION_REQUIRED")
    }
  }

  @Test("the feed of the public database tells one's own records, and deletions to who reads all")
  func feed() async throws {
    try await withService { service in
      try await service.grant(Self.own)
      _ = try await service.modify(Service.operation("create", "a"))
      _ = try await service.modify(Service.operation("create", "b"), as: service.bob)
      let start = try await service.post("public/records/changes", "{}", as: service.alice)
      #expect(start.items.map(\.name) == ["a"])
      let nobody = try await service.post("public/records/changes", "{}", as: nil)
      #expect(nobody.status == 200 && nobody.items.isEmpty)
      let token = try #require(start.json["syncToken"]?.string)
      _ = try await service.modify(Service.operation("forceDelete", "a"))
      let since = #"{"syncToken": "\#(token)"}"#
      let creators = try await service.post("public/records/changes", since, as: service.bob)
      #expect(creators.status == 200 && creators.items.isEmpty)
      try await service.grant(.standard)
      let all = try await service.post("public/records/changes", since, as: nil)
      #expect(all.items.map(\.name) == ["a"])
      #expect(all.items.first?["deleted"] == .bool(true))
    }
  }

  @Test("what no role may read is refused to all, signed in or not")
  func unreadable() async throws {
    try await withService { service in
      try await service.grant(RecordGrants(["_icloud": .create]))
      #expect(try await service.modify(Service.operation("create", "a")).outcomes == ["ok"])
      for user in [service.alice, nil] {
        let query = try await service.post(
          "public/records/query", #"{"query": {"recordType": "Note"}}"#, as: user)
        #expect(query.failure == "403 ACCESS_DENIED")
        #expect(query.reason.contains("READ for record type 'Note'"), "\(query.reason)")
        let lookup = try await service.post(
          "public/records/lookup", #"{"records": [{"recordName": "a"}]}"#, as: user)
        if user == nil {
          // An answer that says whether signing in helps would reveal the record's type.
          #expect(lookup.failure == "421 AUTHENTICATION_REQUIRED")
        } else {
          #expect(lookup.outcomes == ["ACCESS_DENIED"])
        }
      }
      // A name that is taken reveals nothing of the record with that name.
      let taken = try await service.modify(Service.operation("create", "a"), as: service.bob)
      #expect(taken.outcomes == ["EXISTS"])
      #expect(taken[0]["serverRecord"] == nil)
    }
  }

  @Test("a role that was given lets its members create and change, until it is taken away")
  func roles() async throws {
    try await withService { service in
      try await service.grant(
        RecordGrants(["_world": .read, "Editor": [.create, .write]]), roles: ["Editor"])
      func attempt(_ kind: String, _ name: String, as user: TestUser) async throws -> JSONValue {
        try await service.modify(Service.operation(kind, name), as: user)[0]
      }
      let refused = try await attempt("create", "a", as: service.bob)
      #expect(refused.outcome == "ACCESS_DENIED")
      #expect(refused.reason.contains("has CREATE for record type 'Note'"), "\(refused)")
      try await service.setMembership(true, of: service.bob, in: "Editor")
      try await service.setMembership(true, of: service.alice, in: "Editor")
      #expect(try await attempt("create", "a", as: service.bob).outcome == "ok")
      #expect(try await attempt("forceUpdate", "a", as: service.alice).outcome == "ok")
      #expect(try await attempt("forceReplace", "b", as: service.alice).outcome == "ok")
      try await service.setMembership(false, of: service.bob, in: "Editor")
      for kind in ["forceUpdate", "forceReplace", "forceDelete"] {
        let outcome = try await attempt(kind, "a", as: service.bob)
        #expect(outcome.outcome == "ACCESS_DENIED", "\(kind)")
        #expect(outcome.reason.contains("has WRITE for it"), "\(outcome)")
      }
      #expect(try await attempt("forceUpdate", "c", as: service.bob).outcome == "ACCESS_DENIED")
      #expect(try await attempt("forceDelete", "c", as: service.bob).outcome == "deleted")
      #expect(try await attempt("forceDelete", "a", as: service.alice).outcome == "deleted")
    }
  }

  @Test("an asset of a record that may not be read cannot be taken over")
  func assets() async throws {
    try await withService { service in
      try await service.grant(Self.own)
      let file = try await service.uploaded(Data("secret".utf8), record: "a", field: "file")
      _ = try await service.modify(
        Service.operation("create", "a", #""file": {"value": \#(file.text)}"#))
      let body = #"{"assets": [{"recordName": "a", "fieldName": "file"}]}"#
      #expect(
        try await service.post("public/assets/rereference", body, as: service.bob).failure
          == "403 ACCESS_DENIED")
      #expect(
        try await service.post("public/assets/rereference", body, as: service.alice).status == 200)
    }
  }

  @Test("grants mean nothing in a private database, which only its owner reaches")
  func privateDatabases() async throws {
    try await withService { service in
      try await service.grant(RecordGrants(["Editor": .read]), roles: ["Editor"])
      #expect(
        try await service.modify(Service.operation("create", "a"), in: "private").outcomes
          == ["ok"])
      #expect(try await service.lookup("a", in: "private").outcomes == ["ok"])
      #expect(
        try await service.lookup("a", in: "private", as: service.bob).outcomes == ["NOT_FOUND"])
    }
  }

  // MARK: Notifications

  private static let subscription =
    #"{"subscriptionType": "query", "subscriptionID": "s", "firesOn": ["create"], "#
    + #""query": {"recordType": "Note"}"#

  @Test("a subscription to what only creators may read fires for them alone, by the grants then")
  func notifications() async throws {
    try await withService(.init(pollTime: 0)) { service in
      try await service.grant(Self.own)
      var readers: [String: String] = [:]
      for user in [service.alice, service.bob] {
        try await service.subscribe(Self.subscription + "}", as: user)
        readers[user.name] = try await service.makeReader(as: user)
      }
      func notified(_ user: TestUser) async throws -> [String] {
        var names: [String] = []
        while let path = readers[user.name] {
          let answer = try await service.poll(path)
          guard answer.status == 200, !answer.body.isEmpty else { break }
          names.append(answer.json["ck"]?["qry"]?["rid"]?.string ?? "-")
        }
        return names
      }
      _ = try await service.modify(Service.operation("create", "a"))
      _ = try await service.modify(Service.operation("create", "b"), as: service.bob)
      try await service.waitForDispatch(of: 2)
      #expect(try await notified(service.alice) == ["a"])
      #expect(try await notified(service.bob) == ["b"])
      #expect(service.server.dispatchMetrics.withheldNotifications == 2)
      let withheld = service.server.latestWithheld
      #expect(
        withheld.map(\.subscriber) == [service.bob.recordName, service.alice.recordName])
      #expect(withheld[0].subscriptionID == "s")
      #expect(
        withheld[0].reason
          == "record 'a in _defaultZone' of type 'Note' cannot be read: "
          + "no role of \(service.bob.recordName) has READ for it")

      try await service.grant(RecordGrants(["_icloud": [.create, .read]]))
      _ = try await service.modify(Service.operation("create", "c"))
      try await service.waitForDispatch(of: 4)
      #expect(try await notified(service.alice) == ["c"])
      #expect(try await notified(service.bob) == ["c"])
    }
  }

  @Test("what is withheld does not use up a subscription that fires once")
  func firesOnce() async throws {
    try await withService(.init(pollTime: 0)) { service in
      try await service.grant(Self.own)
      try await service.subscribe(
        Self.subscription + #", "firesOnce": true}"#, as: service.bob)
      let path = try await service.makeReader(as: service.bob)
      _ = try await service.modify(Service.operation("create", "a"))
      _ = try await service.modify(Service.operation("create", "b"), as: service.bob)
      try await service.waitForDispatch(of: 1)
      let answer = try await service.poll(path)
      #expect(answer.json["ck"]?["qry"]?["rid"]?.string == "b")
      #expect(try await service.get("public/subscriptions/list", as: service.bob).items.isEmpty)
    }
  }
}

extension Service {
  fileprivate func setMembership(
    _ isMember: Bool, of user: TestUser, in role: String
  ) async throws {
    try await store.schemas.setMembership(
      isMember, of: user.recordName, in: role, container: Self.container,
      environment: .development)
  }
}
