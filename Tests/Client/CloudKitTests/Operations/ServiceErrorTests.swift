import CloudKitModel
import Foundation
import Testing
import WebServices

@testable import CloudKit

struct ServiceErrorTests {
  @Test(
    "Each code of the service has its code in the framework, and the reason is kept",
    arguments: [
      (ServerErrorCode.accessDenied, CKError.Code.permissionFailure),
      (.atomicError, .batchRequestFailed),
      (.authenticationFailed, .notAuthenticated),
      (.authenticationRequired, .notAuthenticated),
      (.badRequest, .invalidArguments),
      (.changeTokenExpired, .changeTokenExpired),
      (.conflict, .serverRecordChanged),
      (.exists, .serverRecordChanged),
      (.internalError, .internalError),
      (.notFound, .unknownItem),
      (.quotaExceeded, .quotaExceeded),
      (.throttled, .requestRateLimited),
      (.tryAgainLater, .serviceUnavailable),
      (.validatingReferenceError, .referenceViolation),
      (.zoneNotFound, .zoneNotFound),
      (.uniqueFieldError, .constraintViolation),
      (.badContainer, .badContainer),
      (.badDatabase, .badDatabase),
      (.userDeletedZone, .userDeletedZone),
      (.zoneBusy, .zoneBusy),
      (ServerErrorCode(rawValue: "SOMETHING_NEW"), .serverRejectedRequest),
    ])
  func codes(code: ServerErrorCode, expected: CKError.Code) {
    let error = CKError(ServiceError(code, "the reason"))
    #expect(error.code == expected)
    #expect(error.localizedDescription == "the reason")
    #expect(error.userInfo["ServerErrorDescription"] as? String == "the reason")
    #expect(error.errorUserInfo["CKErrorDescription"] as? String == "the reason")
    #expect("\(error)".hasSuffix(#" (\#(expected.rawValue)); server message = "the reason">"#))
    #expect(error.retryAfterSeconds == nil)
  }

  @Test("The time to wait is kept")
  func retryAfter() {
    let error = CKError(ServiceError(.throttled, "slow down", retryAfter: 2.5))
    #expect(error.retryAfterSeconds == 2.5)
  }

  @Test(
    "A time that nobody can wait is one that somebody can, or none",
    arguments: [
      (1e308, 31_622_400), (.infinity, 31_622_400), (-1, 0), (.nan, nil),
    ] as [(Double, Double?)])
  func endlessRetryAfter(asked: Double, told: Double?) {
    #expect(CKError(ServiceError(.throttled, "r", retryAfter: asked)).retryAfterSeconds == told)
    let head = TransportResponse(
      status: 503, headers: ["Retry-After": "\(asked)"], body: Data())
    #expect(CKError(head).retryAfterSeconds == (asked.isFinite ? told : nil))
  }

  @Test("What the service says about too many items or too large records is limitExceeded")
  func limits() throws {
    let operations = (0...400).map {
      RecordOperation(kind: .forceDelete, recordID: .init(recordName: "\($0)"))
    }
    let body = ModifyRecordsRequest(operations: operations, isAtomic: true)
      .body(context: serverContext)
    let tooMany = try #require(throws: ServiceError.self) {
      try ModifyRecordsRequest(parsing: body, context: serverContext)
    }
    #expect(CKError(tooMany).code == .limitExceeded)

    let record = Record(
      recordID: RecordID(recordName: "r"), recordType: "T",
      fields: ["f": .bytes(Data(count: 1_000_001))])
    let tooLarge = try #require(throws: ModelError.self) { try record.validate() }
    #expect(CKError(ServiceError(tooLarge)).code == .limitExceeded)

    var info = CloudKitModel.NotificationInfo()
    info.desiredKeys = ["a", "b", "c", "d"]
    let tooManyKeys = try #require(throws: ModelError.self) { try info.validate() }
    #expect(CKError(ServiceError(tooManyKeys)).code == .invalidArguments)
  }

  @Test("A conflict brings the records of both sides and the one they had in common")
  func conflict() throws {
    func version(_ tag: String, _ value: Int64) -> Record {
      Record(
        recordID: RecordID(recordName: "r"), recordType: "T", recordChangeTag: tag,
        fields: ["f": .int64(value)])
    }
    let client = CKRecord(version("a", 1))
    client["f"] = 3
    client["g"] = "new"
    let error = CKError(
      ServiceError(.conflict, "changed", serverRecord: version("b", 2)), savedRecord: client)
    #expect(error.clientRecord === client)
    #expect(error.serverRecord?.recordChangeTag == "b")
    #expect(error.serverRecord?["f"] as Int? == 2)
    #expect(error.ancestorRecord?.recordChangeTag == "a")
    #expect(error.ancestorRecord?["f"] as Int? == 1)
    #expect(error.ancestorRecord?.allKeys() == ["f"])
    #expect(error.ancestorRecord?.changedKeys() == [])
    let copy = try #require(client.copy() as? CKRecord)
    #expect(copy.ancestor?["f"] as Int? == 1)
  }

  @Test("A new record that exists already has no ancestor")
  func exists() {
    let client = CKRecord(recordType: "T")
    let error = CKError(ServiceError(.exists, "is there"), savedRecord: client)
    #expect(error.code == .serverRecordChanged)
    #expect(error.clientRecord === client)
    #expect(error.ancestorRecord == nil)
    #expect(error.serverRecord == nil)
  }

  @Test(
    "An answer from something on the way is told by its status",
    arguments: [
      (401, CKError.Code.notAuthenticated), (403, .permissionFailure), (413, .limitExceeded),
      (429, .requestRateLimited), (500, .internalError), (502, .serviceUnavailable),
      (503, .serviceUnavailable), (404, .serverRejectedRequest),
    ])
  func statuses(status: Int, expected: CKError.Code) {
    let response = TransportResponse(
      status: status, headers: ["Retry-After": "7"], body: Data("<html>".utf8))
    #expect(CKError(response).code == expected)
    #expect(CKError(response).retryAfterSeconds == 7)
  }

  @Test("The date of a Retry-After is told as seconds from now, and one that has passed as none")
  func retryAfterDate() throws {
    func retryAfter(_ text: String) -> Double? {
      CKError(TransportResponse(status: 503, headers: ["Retry-After": text], body: Data()))
        .retryAfterSeconds
    }
    let seconds = try #require(retryAfter("Fri, 01 Jan 2999 00:00:00 GMT"))
    #expect(seconds > 1_000_000)
    #expect(retryAfter("Sun, 06 Nov 1994 08:49:37 GMT") == 0)
    #expect(retryAfter("soon") == nil)
    #expect(retryAfter("Fri, 01 Jan 2999 0\u{356}0:00:00 GMT") == nil)
  }

  @Test("The time to wait in an answer's head counts where the error names none")
  func retryAfterOfHead() {
    let error = ServiceError(.zoneBusy, "busy")
    #expect(
      CKError(TransportResponse(status: 503, headers: ["Retry-After": "4"], body: error.body))
        .retryAfterSeconds == 4)
  }

  @Test("A bad request whose status says that it is too large is limitExceeded")
  func tooLarge() {
    let body = ServiceError(.badRequest, "the body has too many bytes").body
    #expect(CKError(TransportResponse(status: 413, body: body)).code == .limitExceeded)
    #expect(CKError(TransportResponse(status: 400, body: body)).code == .invalidArguments)
  }

  @Test("A body with an error of the service wins over the status")
  func body() {
    let response = TransportResponse(
      status: 413, body: ServiceError(.quotaExceeded, "full").body)
    #expect(CKError(response).code == .quotaExceeded)
  }

  @Test(
    "Failures of the transport have their codes",
    arguments: [
      (TransportFailure.Kind.offline, CKError.Code.networkUnavailable),
      (.unreachable, .networkFailure), (.timedOut, .networkFailure),
      (.answerLost, .serverResponseLost), (.cancelled, .operationCancelled),
    ])
  func transport(kind: TransportFailure.Kind, expected: CKError.Code) {
    let error = CKError(TransportFailure(kind, "why"))
    #expect(error.code == expected)
    #expect(error.localizedDescription == "why")
  }
}
