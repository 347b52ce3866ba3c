import CloudKitModel
import Foundation
import JSONCoding
import PropertyTesting
import Testing
import WebServices

struct ServiceErrorTests {
  @Test("Each code has Apple's HTTP status", arguments: ServerErrorCode.statuses)
  func statuses(code: ServerErrorCode, status: Int) throws {
    #expect(code.httpStatus == status)
    let error = ServiceError(code, "why", uuid: "u")
    if code == code.documented {
      #expect(
        String(decoding: error.body, as: UTF8.self)
          == #"{"uuid":"u","serverErrorCode":"\#(code.rawValue)","reason":"why"}"#)
    }
    #expect(ServiceError(body: try JSONValue(parsing: error.body)) == error)
  }

  @Test("A code of Petrel's own stands beside one that every client knows")
  func ownCodes() {
    #expect(
      String(decoding: ServiceError(.userDeletedZone, "why", uuid: "u").body, as: UTF8.self)
        == #"{"uuid":"u","serverErrorCode":"ZONE_NOT_FOUND","reasonCode":"USER_DELETED_ZONE","#
        + #""reason":"why"}"#)
    let known = Set(ServerErrorCode.statuses.prefix(15).map { $0.0 })
    #expect(ServerErrorCode.statuses.allSatisfy { known.contains($0.0.documented) })
  }

  @Test("A reason that quotes what is as long as a request is cut, whatever its characters are")
  func longReason() {
    for character in ["n", "\u{301}", "🎈"] {
      let error = ServiceError(.badRequest, String(repeating: character, count: 10_000))
      #expect((2_000...2_010).contains(error.reason.utf8.count))
      #expect(error.reason.hasSuffix("…"))
    }
    let whole = String(repeating: "n", count: 4_000)
    #expect(ServiceError(.badRequest, whole).reason == whole)
  }

  @Test("A code of a newer protocol is kept, and counts as the server's fault")
  func unknownCode() {
    let error = ServiceError(body: ["serverErrorCode": "NEWER"])
    #expect(error?.code == ServerErrorCode(rawValue: "NEWER"))
    #expect(error?.code.httpStatus == 500)
    #expect(error?.reason == "" && error?.retryAfter == nil)
  }

  @Test("Everything an error can hold is read as it was written", arguments: Seeds.some(40))
  func roundTrip(seed: Int) throws {
    var random = RandomModel(seed: seed)
    let error = random.serviceError()
    #expect(ServiceError(body: try JSONValue(parsing: error.body)) == error)
  }

  @Test(
    "An object without a code is no error", arguments: ["{}", "[]", #"{"reason":"x"}"#, "null"])
  func noError(text: String) throws {
    #expect(ServiceError(body: try JSONValue(parsing: text)) == nil)
  }

  @Test("Sign-in and waiting are told beside the reason")
  func extras() {
    let error = ServiceError(
      .authenticationRequired, "request needs authorization", uuid: "u", retryAfter: 30,
      redirectURL: "https://example.com/sign-in")
    #expect(
      String(decoding: error.body, as: UTF8.self)
        == #"{"uuid":"u","serverErrorCode":"AUTHENTICATION_REQUIRED","#
        + #""reason":"request needs authorization","retryAfter":30,"#
        + #""redirectURL":"https://example.com/sign-in"}"#)
  }

  @Test("Errors have names of their own")
  func names() {
    #expect(ServiceError(.conflict, "x").uuid != ServiceError(.conflict, "x").uuid)
  }

  @Test("A conflict brings the server's record in the caller's terms")
  func serverRecord() throws {
    let record = Record(
      recordID: RecordID(recordName: "r"), recordType: "Note", recordChangeTag: "k",
      fields: ["a": .int64(1)])
    let failed = FailedItem(
      .record(recordName: "r", zoneID: .default),
      ServiceError(.conflict, "x", uuid: "u", serverRecord: record))
    let body = RecordsResponse(records: [.failure(failed)]).body(context: serverContext)
    #expect(
      String(decoding: body, as: UTF8.self)
        == #"{"records":[{"recordName":"r","#
        + #""zoneID":{"zoneName":"_defaultZone","ownerRecordName":"_me"},"#
        + #""uuid":"u","serverErrorCode":"CONFLICT","reason":"x","serverRecord":{"recordName":"r","#
        + #""recordType":"Note","zoneID":{"zoneName":"_defaultZone","ownerRecordName":"_me"},"#
        + #""recordChangeTag":"k","fields":{"a":{"value":1,"type":"INT64"}},"deleted":false}}]}"#)
    let read = try RecordsResponse(
      parsing: body, context: MessageContext(ownerNaming: .implied))
    #expect(read.records == [.failure(failed)])
  }
}
