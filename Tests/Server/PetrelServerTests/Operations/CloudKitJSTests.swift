import Foundation
import JSONCoding
import Testing

@testable import PetrelServer

/// Tests of the requests that Apple's CloudKit JS and similar clients send, and of the answers that
/// they rely on.
struct CloudKitJSTests {
  private static let versions = "ckjsBuildVersion=2005ProjectDev34&ckjsVersion=2.6.1"

  @Test("In Node it asks first who the server-to-server key is, and signs the query too")
  func setUpAuthWithKey() async throws {
    try await withService { service in
      let client = try await ServerKeyClient(service)
      for (operation, method) in [
        ("public/users/caller", "GET"), ("public/users/current", "GET"),
        ("public/users/caller", "POST"),
      ] {
        var request = try client.request(
          operation, "", method: method, query: "\(Self.versions)&clientId=3f2a-1")
        let date = try #require(request.date)
        request.signature = try client.sign(
          "\(date):\(try ServerKeyClient.hash("")):\(request.target)")
        let answer = try await client.send(request)
        #expect(answer.status == 200, "\(answer.json)")
        #expect(answer.json["userRecordName"]?.string == client.key.userRecordName)
      }
    }
  }

  @Test("The caller stands in the answer itself, and in a list as Apple's reference has it")
  func caller() async throws {
    try await withService { service in
      let answer = try await service.get("public/users/caller", as: service.alice)
      #expect(answer.json["userRecordName"]?.string == service.alice.recordName)
      let users = try #require(answer.json["users"]?.array)
      #expect(users.count == 1)
      #expect(users[0]["userRecordName"] == answer.json["userRecordName"])
      #expect(users[0]["lookupInfo"] == answer.json["lookupInfo"])
    }
  }

  @Test("A lone filter and a lone sort are taken without a list around them")
  func loneFilters() async throws {
    try await withService { service in
      _ = try await service.modify(
        Service.operation("create", "a", #""rank": {"value": 1}"#),
        Service.operation("create", "b", #""rank": {"value": 2}"#),
        Service.operation("create", "c", #""rank": {"value": 3}"#))
      let found = try await service.post(
        "public/records/query",
        #"""
        {"query": {"recordType": "Note",
          "filterBy": {"fieldName": "rank", "comparator": "GREATER_THAN", "fieldValue": {"value": 1}},
          "sortBy": {"fieldName": "rank", "ascending": false}}}
        """#, as: service.alice)
      #expect(found.items.map(\.name) == ["c", "b"], "\(found.json)")
      let wrong = try await service.post(
        "public/records/query", #"{"query": {"recordType": "Note", "filterBy": "rank"}}"#,
        as: service.alice)
      #expect(wrong.reason == "query.filterBy: must be an array, not a string")
    }
  }

  @Test("A web auth token that was escaped twice is understood")
  func doubleEscapes() async throws {
    try await withService { service in
      let path = "/database/1/\(Service.container)/development/public/users/caller"
      let escaped = Service.escaped(Service.escaped(service.alice.token))
      let answer = try await service.client.send("GET", "\(path)?ckWebAuthToken=\(escaped)")
      #expect(answer.json["userRecordName"]?.string == service.alice.recordName)
      let broken = try await service.client.send("GET", "\(path)?ckWebAuthToken=%2525zz")
      #expect(broken.failure == "401 AUTHENTICATION_FAILED")
    }
  }

  @Test(
    "Builds before 2.0 write null for a token that they have not", arguments: ["null", "undefined"])
  func wordsForNoToken(word: String) async throws {
    try await withService { service in
      let apiToken = try await service.addAPIToken()
      _ = try await service.modify(Service.operation("create", "n"))
      let path = "/database/1/\(Service.container)/development/public"
      let query = "ckjsVersion=1.2.0&ckAPIToken=\(apiToken)&ckWebAuthToken=\(word)"
      let found = try await service.client.send(
        "POST", "\(path)/records/query?\(query)",
        body: Data(#"{"query": {"recordType": "Note"}}"#.utf8))
      #expect(found.status == 200, "\(found.json)")
      let user = try await service.client.send("GET", "\(path)/users/current?\(query)")
      #expect(user.failure == "421 AUTHENTICATION_REQUIRED")
      #expect(user.json["redirectURL"] != nil)
    }
  }

  @Test("A web app finds the next token in each answer, also where it is the same one")
  func nextToken() async throws {
    try await withService { service in
      let header = "x-apple-cloudkit-web-auth-token"
      let app = try await service.send("public/users/caller", apiToken: "any", as: service.alice)
      #expect(app.headers[header] == service.alice.token)
      let failed = try await service.send("public/no/such", apiToken: "any", as: service.alice)
      #expect(failed.status == 404 && failed.headers[header] == nil)
      let native = try await service.get("public/users/caller", as: service.alice)
      #expect(native.headers[header] == nil)
    }
  }

  @Test("fetchRecordInfos and acceptShares lead to the records of the shared database")
  func sharing() async throws {
    try await withService { service in
      try await service.makeZone("Notes")
      let shared = try await service.get("shared/zones/list", as: service.bob)
      #expect(shared.json == ["zones": []])
      let saved = try await service.modify(
        Service.operation("create", "list", #""title": {"value": "Milk"}"#, zone: "Notes"),
        """
        {"operationType": "create", "record": {"recordName": "s", "recordType": "cloudkit.share",
         "zoneID": {"zoneName": "Notes"}, "fields": {}, "forRecord": {"recordName": "list"},
         "publicPermission": "READ_ONLY"}}
        """, in: "private")
      let guid = try #require(saved[1]["shortGUID"]?.string, "\(saved.json)")
      let wanted = """
        {"shortGUIDs": [{"value": "\(guid)", "shouldFetchRootRecord": true,
          "rootRecordDesiredKeys": ["title"]}]}
        """
      let infos = try await service.post("public/records/resolve", wanted, as: service.bob)
      let info = try #require(infos.json["results"]?.array?.first)
      #expect(info["shortGUID"]?["value"]?.string == guid, "\(info)")
      #expect(info["rootRecord"]?["fields"]?["title"]?["value"] == "Milk", "\(info)")
      #expect(info["participantPermission"] == "READ_ONLY")
      let accepted = try await service.post("public/records/accept", wanted, as: service.bob)
      let result = try #require(accepted.json["results"]?.array?.first)
      #expect(result["participantStatus"] == "ACCEPTED", "\(result)")

      // The page takes the zone from the answer, and asks the shared database for its records.
      let zone = try #require(result["zoneID"])
      let zones = try await service.get("shared/zones/list", as: service.bob)
      #expect(zones[0]["zoneID"]?["zoneName"] == zone["zoneName"])
      #expect(zones[0]["zoneID"]?["ownerRecordName"] == zone["ownerRecordName"])
      let found = try await service.post(
        "shared/records/query",
        #"{"query": {"recordType": "Note"}, "zoneID": \#(zone.text)}"#, as: service.bob)
      #expect(found.items.map(\.name) == ["list"], "\(found.json)")
    }
  }

  @Test("An asset has each member that Apple's service gives, and is saved with them")
  func assets() async throws {
    try await withService { service in
      let file = try await service.uploaded(Data("milk".utf8), record: "n", field: "file")
      let saved = try await service.modify(
        Service.operation("create", "n", #""file": {"value": \#(file.text), "type": "ASSETID"}"#))
      let again = try await service.post(
        "public/assets/rereference",
        #"{"assets": [{"recordName": "n", "fieldName": "file"}]}"#, as: service.alice)
      for asset in [file, saved[0].field("file"), again.json["assets"]?.array?.first] {
        let asset = try #require(asset, "\(saved.json) \(again.json)")
        #expect(asset["referenceChecksum"] == asset["fileChecksum"])
        #expect(asset["wrappingKey"] == "")
      }
      // A client that keeps the asset sends back what it got.
      let value = try #require(saved[0].field("file"))
      let kept = try await service.modify(
        Service.operation(
          "replace", "n", #""file": {"value": \#(value.text)}"#, tag: saved[0].tag))
      #expect(kept.outcomes == ["ok"], "\(kept.json)")
    }
  }
}
