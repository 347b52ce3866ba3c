import Foundation
import JSONCoding
import Testing

@testable import PetrelServer

/// Tests of the requests of public clients of the protocol, byte for byte where it matters, and of
/// the parts of answers that their parsers require.
struct ClientExpectationTests {
  /// The codes that clients' enumerations have.
  private static let codes: Set<String> = [
    "ACCESS_DENIED", "ATOMIC_ERROR", "AUTHENTICATION_FAILED", "AUTHENTICATION_REQUIRED",
    "BAD_REQUEST", "CONFLICT", "EXISTS", "INTERNAL_ERROR", "NOT_FOUND", "QUOTA_EXCEEDED",
    "THROTTLED", "TRY_AGAIN_LATER", "VALIDATING_REFERENCE_ERROR", "ZONE_NOT_FOUND",
  ]

  @Test(
    "Web Services name the caller by the record name, unless the query asks for the default name")
  func callerName() async throws {
    try await withService { service in
      func creator(_ query: String) async throws -> JSONValue? {
        let target = service.target("public/records/lookup", as: service.alice) + query
        let answer = try await service.client.send(
          "POST", target, body: Data(#"{"records": [{"recordName": "n"}]}"#.utf8))
        return answer[0]["created"]?["userRecordName"] ?? answer.json["reason"]
      }
      _ = try await service.modify(Service.operation("create", "n"))
      #expect(try await creator("") == .string(service.alice.recordName))
      #expect(try await creator("&callerName=__defaultOwner__") == "__defaultOwner__")
      #expect(try await creator("&callerName=me") == "callerName: must be __defaultOwner__")
    }
  }

  @Test("OpenCloudKit reads records only with a device in their stamps, and references by a zone")
  func records() async throws {
    try await withService { service in
      try await service.makeZone("Notes")
      let saved = try await service.post(
        "private/records/modify",
        #"""
        {"zoneID": {"zoneName": "Notes"}, "atomic": true, "operations": [
          {"operationType": "create", "record": {
            "recordType": "Note", "recordName": "n", "zoneID": {"zoneName": "Notes"},
            "createShortGUID": 1, "parent": {"recordName": "p"},
            "fields": {"by": {"type": "REFERENCE", "value": {
                         "recordName": "a", "zoneID": {"zoneName": "Notes"}, "action": "NONE"}},
                       "seen": {"type": "REFERENCE_LIST", "value": [{"recordName": "b"}]},
                       "at": {"type": "LOCATION", "value": {
                         "latitude": 1.5, "longitude": 2, "horizontalAccuracy": -1,
                         "verticalAccuracy": -1, "altitude": 0, "speed": -1, "course": -1,
                         "timestamp": 1700000000000}}}}},
          {"operationType": "create", "record": {
            "recordType": "Note", "recordName": "p", "zoneID": {"zoneName": "Notes"},
            "fields": {}}}]}
        """#, as: service.alice)
      #expect(saved.outcomes == ["ok", "ok"], "\(saved.json)")
      let record = saved[0]
      #expect(record["shortGUID"]?.string?.isEmpty == false && saved[1]["shortGUID"] == nil)
      for stamp in [record["created"], record["modified"]] {
        #expect(stamp?["timestamp"]?.int != nil && stamp?["userRecordName"]?.string != nil)
        #expect(stamp?["deviceID"] == "2")
      }
      // cloudkit_flutter reads the zone of each reference.
      #expect(record.field("by")?["zoneID"]?["zoneName"] == "Notes")
      #expect(record.field("seen")?.array?.first?["zoneID"]?["zoneName"] == "Notes")
      #expect(record["parent"]?["zoneID"]?["zoneName"] == "Notes")

      let removed = try await service.post(
        "private/records/modify",
        #"""
        {"zoneID": {"zoneName": "Notes"}, "atomic": true, "operations": [
          {"operationType": "update", "record": {
            "recordType": "Note", "recordName": "n", "recordChangeTag": "\#(record.tag)",
            "zoneID": {"zoneName": "Notes"}, "fields": {"at": {}}}}]}
        """#, as: service.alice)
      #expect(removed.outcomes == ["ok"], "\(removed.json)")
      #expect(removed[0]["fields"]?["at"] == nil && removed[0].field("by") != nil)
    }
  }

  @Test("OpenCloudKit uploads files in forms")
  func forms() async throws {
    try await withService { service in
      let contents = [
        Data("one\r\n--no boundary\r\n".utf8), Data(),
        Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }),
      ]
      for content in contents {
        let asked = try await service.post(
          "public/assets/upload",
          #"""
          {"zoneID": {"zoneName": "_defaultZone"},
           "tokens": [{"recordType": "Note", "fieldName": "file", "recordName": "n"}]}
          """#, as: service.alice)
        let url = try #require(asked.json["tokens"]?.array?.first?["url"]?.string)
        let boundary = "----5F2B6F3E"
        let form =
          Data(
            ("--\(boundary)\r\nContent-Disposition: form-data; name=\"files\"; "
              + "filename=\"file.file\"\r\nContent-Type: application/octet-stream\r\n\r\n").utf8)
          + content + Data("\r\n--\(boundary)--\r\n".utf8)
        let uploaded = try await service.client.send(
          "POST", try service.path(.string(url)),
          headers: "Content-Type: multipart/form-data; boundary=\(boundary)\r\n", body: form)
        let file = try #require(uploaded.json["singleFile"], "\(uploaded.json)")
        #expect(file["size"] == .int(Int64(content.count)))
        let saved = try await service.modify(
          Service.operation(
            "forceUpdate", "n", #""file": {"value": \#(file.text), "type": "ASSETID"}"#))
        let asset = try #require(saved[0].field("file"), "\(saved.json)")
        let download = try await service.client.send(
          "GET", try service.path(asset["downloadURL"]))
        #expect(download.body == content)
      }
      let left = try FileManager.default.contentsOfDirectory(
        atPath: try #require(service.store.assets.files.arrivals))
      #expect(left.isEmpty)
    }
  }

  @Test("A form that is broken is refused")
  func brokenForms() async throws {
    try await withService { service in
      for (type, body) in [
        ("multipart/form-data", "--b\r\n\r\nx\r\n--b--"),
        ("multipart/form-data; boundary=b", "nothing"),
        ("multipart/form-data; boundary=b", "--b\r\nA: b\r\n\r\nwithout an end"),
      ] {
        let asked = try await service.askForUpload(record: "n", field: "file")
        let answer = try await service.client.send(
          "POST", try service.path(.string(asked.uploadURLs[0])),
          headers: "Content-Type: \(type)\r\n", body: Data(body.utf8))
        #expect(answer.failure == "400 BAD_REQUEST")
        #expect(answer.reason.contains("multipart/form-data"))
      }
    }
  }

  @Test("Zones, markers and tokens are base64 where OpenCloudKit decodes them")
  func base64() async throws {
    try await withService { service in
      try await service.makeZone("Notes")
      let before = try await service.get("private/zones/list", as: service.alice)
      let zone = try #require(before.items.first { $0["zoneID"]?["zoneName"] == "Notes" })
      #expect(zone["atomic"] == true && zone["zoneID"]?["zoneType"] == "REGULAR_CUSTOM_ZONE")
      let token = try #require(zone["syncToken"]?.string)
      #expect(Data(base64Encoded: token) != nil)
      _ = try await service.modify(
        Service.operation("create", "a", zone: "Notes"),
        Service.operation("create", "b", zone: "Notes"), in: "private")
      let changes = try await service.post(
        "private/records/changes",
        #"{"zoneID": {"zoneName": "Notes"}, "syncToken": "\#(token)"}"#, as: service.alice)
      #expect(changes.items.map(\.name) == ["a", "b"])
      let looked = try await service.post(
        "private/zones/lookup",
        #"{"zones": [{"zoneName": "Notes", "ownerName": "__defaultOwner__"}, "_defaultZone"]}"#,
        as: service.alice)
      let later = try #require(looked[0]["syncToken"]?.string)
      #expect(looked[1]["syncToken"] == nil && looked[1]["atomic"] == false)
      let nothing = try await service.post(
        "private/records/changes",
        #"{"zoneID": {"zoneName": "Notes"}, "syncToken": "\#(later)"}"#, as: service.alice)
      #expect(nothing.status == 200 && nothing.items.isEmpty)
      let page = try await service.post(
        "private/records/query",
        #"{"zoneWide": true, "resultsLimit": 1, "query": {"recordType": "Note", "filterBy": [], "sortBy": []}}"#,
        as: service.alice)
      let marker = try #require(page.json["continuationMarker"]?.string)
      #expect(Data(base64Encoded: marker) != nil)
    }
  }

  @Test("Failed items bear a name, a reason and a code that clients know")
  func errors() async throws {
    try await withService { service in
      let subscriptions = try await service.post(
        "public/subscriptions/modify",
        #"{"operations": [{"operationType": "create", "subscription": {"subscriptionID": "s"}}]}"#,
        as: service.alice)
      #expect(subscriptions[0]["subscriptionID"] == "s")
      let looked = try await service.post(
        "public/subscriptions/lookup", #"{"subscriptions": ["s", "t"]}"#, as: service.alice)
      #expect(looked.items.map { $0["subscriptionID"] } == ["s", "t"])
      let zones = try await service.post(
        "private/zones/lookup", #"{"zones": [{"zoneName": "None"}]}"#, as: service.alice)
      #expect(zones[0]["zoneID"]?["zoneName"] == "None")
      let records = try await service.lookup("none")
      #expect(records[0]["recordName"] == "none")
      let share = try await service.modify(
        Service.operation("create", "s", type: "cloudkit.share"), in: "private")
      let publicZone = try await service.post(
        "public/zones/modify", #"{"operations": []}"#, as: service.alice)
      for item in [subscriptions[0], looked[0], zones[0], records[0], share[0], publicZone.json] {
        #expect(Self.codes.contains(item["serverErrorCode"]?.string ?? ""), "\(item)")
        #expect(item["reason"]?.string?.isEmpty == false && item["uuid"]?.string != nil)
      }
    }
  }

  @Test("AgileCloudSDK's tokens, zones by name and old session parameter are taken")
  func agileCloudSDK() async throws {
    try await withService { service in
      try await service.makeZone("Notes")
      let session = "ckAPIToken=0&ckSession=\(Service.escaped(service.alice.token))"
      let root = "1/\(Service.container)/development"
      let saved = try await service.client.send(
        "POST", "/database/\(root)/private/records/modify?\(session)",
        body: Data(
          #"""
          {"zoneID": {"zoneName": "Notes"}, "atomic": true, "operations": [
            {"operationType": "forceUpdate", "record": {
              "recordName": "n", "zoneID": "Notes", "recordType": "Note",
              "fields": {"a": {"value": "x"}, "b": {"value": {"recordName": "m", "action": 1}}}}},
            {"operationType": "forceDelete", "record": {"recordName": "o", "zoneID": "Notes"}}]}
          """#.utf8))
      #expect(saved.outcomes == ["ok", "deleted"], "\(saved.json)")
      #expect(saved[0].field("b")?["action"] == "DELETE_SELF")
      let created = try await service.client.send(
        "POST", "/device/\(root)/tokens/create?\(session)",
        body: Data(#"{"apnsEnvironment": "development"}"#.utf8))
      #expect(created.json["webcourierURL"]?.string != nil)
      let token = try #require(created.json["apnsToken"]?.string)
      #expect(Data(base64Encoded: token) != nil)
      for prefix in ["database/\(root)/private", "database/\(root)", "device/\(root)/public"] {
        let registered = try await service.client.send(
          "POST", "/\(prefix)/tokens/register?\(session)",
          body: Data(#"{"apnsToken": "\#(token)"}"#.utf8))
        #expect(registered.json == created.json)
      }
      let caller = try await service.client.send(
        "GET", "/database/\(root)/private/users/current?\(session)&ckjsVersion=2.0.3&clientId=x")
      #expect(caller.json["userRecordName"]?.string == service.alice.recordName)
    }
  }

  @Test("CloudKitClient for Kotlin writes null for whatever a record has not")
  func cloudKitClient() async throws {
    try await withService { service in
      let zone =
        #"{"zoneName": "_defaultZone", "ownerRecordName": null, "zoneType": "DEFAULT_ZONE"}"#
      func modify(_ kind: String, tag: String, name: String) async throws -> Answer {
        try await service.post(
          "public/records/modify",
          #"""
          {"operations": [{"record": {
             "recordName": "n", "fields": {"title": \#(name), "gone": null}, "created": null,
             "modified": null, "deleted": null, "pluginFields": {}, "recordChangeTag": \#(tag),
             "zoneID": \#(zone), "recordType": "Note"},
             "operationType": "\#(kind)", "desiredKeys": null}],
           "zoneID": \#(zone), "atomic": null, "desiredKeys": null, "numbersAsStrings": false}
          """#, as: service.alice)
      }
      let created = try await modify(
        "create", tag: "null", name: #"{"type": "STRING", "value": "a"}"#)
      #expect(created[0].field("title") == "a", "\(created.json)")
      let found = try await service.post(
        "public/records/query",
        #"""
        {"zoneID": \#(zone), "resultsLimit": 200, "query": {"recordType": "Note", "filterBy": [
           {"fieldName": "title", "comparator": "EQUALS",
            "fieldValue": {"type": "STRING", "value": "a"}, "distance": null}],
           "sortBy": [{"fieldName": "title", "ascending": true, "relativeLocation": null}]},
         "continuationMarker": null, "desiredKeys": null, "numbersAsStrings": false,
         "zoneWide": true}
        """#, as: service.alice)
      #expect(found.items.map(\.name) == ["n"])
      let replaced = try await modify("replace", tag: "\"\(created[0].tag)\"", name: "null")
      #expect(replaced[0].field("title") == nil && replaced.outcomes == ["ok"])
      let deleted = try await modify("delete", tag: "\"\(replaced[0].tag)\"", name: "null")
      #expect(deleted.outcomes == ["deleted"])
    }
  }

  @Test("A device's token is taken in hexadecimal digits and in base64, whatever its size")
  func deviceTokens() async throws {
    try await withService { service in
      for size in [32, 33, 64] {
        let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 37) })
        let digits = bytes.map { String(format: "%02x", $0) }.joined()
        for text in [digits, digits.uppercased(), bytes.base64EncodedString()] {
          let answer = try await service.post(
            "tokens/register", #"{"apnsEnvironment": "production", "apnsToken": "\#(text)"}"#,
            as: service.alice)
          #expect(answer.json["apnsToken"]?.string == digits, "\(answer.json)")
        }
      }
    }
  }

  @Test("Users in answers bear what they were looked up by, or their names")
  func lookups() async throws {
    try await withService { service in
      _ = try await service.post(
        "public/users/permissions",
        #"{"permissions": [{"permission": "USER_DISCOVERABILITY", "status": "GRANTED"}]}"#,
        as: service.bob)
      let all = try await service.get("public/users/discover", as: service.alice)
      let bob: JSONValue = ["userRecordName": .string(service.bob.recordName)]
      #expect(all.json["users"]?.array?.map { $0["lookupInfo"] } == [bob])
      let one = try await service.post(
        "public/users/discover",
        #"{"lookupInfos": [{"userRecordName": "\#(service.bob.recordName)"}]}"#, as: service.alice)
      #expect(one.json["users"]?.array?.map { $0["lookupInfo"] } == [bob])
    }
  }
}
