import JSONCoding
import Testing

struct ZonesTests {
  @Test("zones are made, listed, looked up and deleted with what lies in them")
  func lifeOfAZone() async throws {
    try await withService { service in
      try await service.makeZone("Notes")
      let list = try await service.get("private/zones/list", as: service.alice)
      #expect(list.items.map { $0["zoneID"]?["zoneName"] } == ["_defaultZone", "Notes"])
      #expect(
        list.items.map { $0["zoneID"]?["zoneType"] } == ["DEFAULT_ZONE", "REGULAR_CUSTOM_ZONE"])
      #expect(list.items.map { $0["atomic"] } == [false, true])
      #expect(list[1]["zoneID"]?["ownerRecordName"]?.string == service.alice.recordName)

      _ = try await service.modify(
        Service.operation("create", "n", zone: "Notes"), in: "private")
      let deleted = try await service.post(
        "private/zones/modify",
        #"{"operations": [{"operationType": "delete", "zone": {"zoneID": {"zoneName": "Notes"}}}]}"#,
        as: service.alice)
      #expect(deleted.outcomes == ["deleted"])
      #expect(
        try await service.lookup("n", in: "private", zone: "Notes").outcomes == ["ZONE_NOT_FOUND"])
      try await service.makeZone("Notes")
      #expect(
        try await service.lookup("n", in: "private", zone: "Notes").outcomes == ["NOT_FOUND"])
    }
  }

  @Test("lookup answers each zone in its place")
  func lookup() async throws {
    try await withService { service in
      try await service.makeZone("A")
      let answer = try await service.post(
        "private/zones/lookup",
        #"{"zones": [{"zoneName": "A"}, {"zoneName": "B"}, {"zoneID": {"zoneName": "_defaultZone"}}]}"#,
        as: service.alice)
      #expect(answer.outcomes == ["ok", "ZONE_NOT_FOUND", "ok"], "\(answer.json)")
      #expect(answer[1]["zoneID"]?["zoneName"] == "B")
      #expect(answer[1].reason.contains("'B'"))
    }
  }

  @Test("a zone that exists is not made a second time, and keeps its records")
  func remake() async throws {
    try await withService { service in
      try await service.makeZone("A")
      _ = try await service.modify(Service.operation("create", "n", zone: "A"), in: "private")
      try await service.makeZone("A")
      #expect(try await service.lookup("n", in: "private", zone: "A").outcomes == ["ok"])
    }
  }

  @Test("each operation stands alone")
  func separateOperations() async throws {
    try await withService { service in
      let answer = try await service.post(
        "private/zones/modify",
        """
        {"operations": [
          {"operationType": "create", "zone": {"zoneID": {"zoneName": "_bad"}}},
          {"operationType": "delete", "zone": {"zoneID": {"zoneName": "none"}}},
          {"operationType": "delete", "zone": {"zoneID": {"zoneName": "_defaultZone"}}},
          {"operationType": "make", "zone": {"zoneID": {"zoneName": "x"}}},
          {"operationType": "create", "zone": {"zoneID": {"zoneName": "good"}}}]}
        """, as: service.alice)
      #expect(
        answer.outcomes == [
          "BAD_REQUEST", "ZONE_NOT_FOUND", "BAD_REQUEST", "BAD_REQUEST", "ok",
        ], "\(answer.json)")
      #expect(answer[0].reason.contains("'_bad' begins with '_'"))
      #expect(answer[1].reason.contains("'none'"))
      #expect(answer[3].reason.contains("'make' must be one of create, delete"))
    }
  }

  @Test("zones are made in the private database only")
  func privateOnly() async throws {
    try await withService { service in
      let body =
        #"{"operations": [{"operationType": "create", "zone": {"zoneID": {"zoneName": "A"}}}]}"#
      let answer = try await service.post("public/zones/modify", body, as: service.alice)
      #expect(answer.failure == "400 BAD_DATABASE")
      #expect(answer.reason.contains("private or shared database only, not for the public one"))
      let shared = try await service.post("shared/zones/modify", body, as: service.alice)
      #expect(shared.outcomes == ["BAD_DATABASE"])
      #expect(shared[0].reason.contains("zones of other users only"))
    }
  }
}
