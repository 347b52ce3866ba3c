import CloudKitModel
import Foundation
import Testing
import WebServices

struct ZoneRequestTests {
  private func operations(_ json: String) throws -> [Result<ZoneOperation, FailedItem>] {
    try ModifyZonesRequest(
      parsing: Data(#"{"operations":[\#(json)]}"#.utf8), context: serverContext
    ).operations
  }

  @Test(
    "A broken operation names its place and its rule",
    arguments: [
      (#"{"operationType":"create"}"#, ": 'zone' is missing"),
      (#"{"operationType":"create","zone":{}}"#, ".zone: 'zoneID' is missing"),
      (#"{"zone":{"zoneID":{"zoneName":"A"}}}"#, ": 'operationType' is missing"),
      (
        #"{"operationType":"update","zone":{"zoneID":{"zoneName":"A"}}}"#,
        ".operationType: 'update' must be one of create, delete"
      ),
      (
        #"{"operationType":"create","zone":{"zoneID":{"zoneName":""}}}"#,
        ": zoneName must not be empty"
      ),
      (
        #"{"operationType":"create","zone":{"zoneID":{"zoneName":"_A"}}}"#,
        ": zoneName '_A' begins with '_', which is reserved for system names"
      ),
    ])
  func broken(json: String, expected: String) {
    #expect(reason { _ = try operations(json)[0].get() } == "operations[0]" + expected)
  }

  @Test("One broken operation leaves the others, and its failure bears its zone")
  func leniency() throws {
    let items = try operations(
      #"""
      {"operationType":"create","zone":{"zoneID":{"zoneName":"A"}}},
      {"operationType":"rename","zone":{"zoneID":{"zoneName":"B"}}},
      {"operationType":"delete","zone":{"zoneID":{"zoneName":"C","ownerRecordName":"_me"}}}
      """#)
    #expect(try items[0].get() == .create(ZoneID(zoneName: "A")))
    #expect(try items[2].get() == .delete(ZoneID(zoneName: "C")))
    guard case .failure(let failed) = items[1] else {
      Issue.record("unexpected \(items[1])")
      return
    }
    #expect(failed.name == .zone(ZoneID(zoneName: "B")))
  }

  @Test("Zones to look up stand in the list bare or as dictionaries")
  func lookup() throws {
    let request = try LookupZonesRequest(
      parsing: Data(#"{"zones":[{"zoneName":"A"},{"zoneID":{"zoneName":"B"}},{}]}"#.utf8),
      context: serverContext)
    #expect(request.zoneIDs == [ZoneID(zoneName: "A"), ZoneID(zoneName: "B"), .default])
  }
}

struct TokenRequestTests {
  @Test("Requests and answers are read as they were written")
  func roundTrip() throws {
    for request in [
      TokenRequest(apnsEnvironment: .development),
      TokenRequest(apnsEnvironment: .production, apnsToken: "AB+/=", clientID: "device"),
    ] {
      #expect(try TokenRequest(parsing: request.body) == request)
    }
    for url in [nil, "https://example.com:443/aps?tok=a&ttl=43200"] {
      let response = TokenResponse(
        apnsEnvironment: .development, apnsToken: "AB", webcourierURL: url)
      #expect(try TokenResponse(parsing: response.body) == response)
    }
    let user = UserResponse(userRecordName: "_abc")
    #expect(try UserResponse(parsing: user.body) == user)
  }

  @Test(
    "A broken request names what is wrong",
    arguments: [
      (
        #"{"apnsEnvironment":"sandbox"}"#,
        "apnsEnvironment: 'sandbox' must be one of development, production"
      ),
      (#"{"apnsEnvironment":1}"#, "apnsEnvironment: must be a string, not a number"),
      (
        #"{"apnsEnvironment":"production","apnsToken":5}"#,
        "apnsToken: must be a string, not a number"
      ),
    ])
  func broken(body: String, expected: String) {
    #expect(reason { _ = try TokenRequest(parsing: Data(body.utf8)) } == expected)
  }
}
