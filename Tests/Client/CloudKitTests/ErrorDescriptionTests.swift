import Testing

@testable import CloudKit

struct ErrorDescriptionTests {
  @Test("An error prints its code, the code's number and its reason")
  func printsReason() {
    let error = CKError(
      .notAuthenticated, userInfo: [NSLocalizedDescriptionKey: "the token has expired"])
    #expect("\(error)" == #"<CKError: "Not Authenticated" (9); "the token has expired">"#)
    #expect(String(describing: error as any Error) == error.description)
    #expect("\(CKError(.zoneBusy))" == #"<CKError: "Zone Busy" (23)>"#)
    #expect(
      "\(CKError(.requestRateLimited, userInfo: [CKErrorRetryAfterKey: 2.5]))"
        == #"<CKError: "Request Rate Limited" (7); Retry after 2.5 seconds>"#)
  }

  @Test("An error of the client has its description under Apple's key too")
  func describesClientErrors() {
    let error = CKError(.operationCancelled, "the operation was cancelled")
    #expect(error.userInfo["CKErrorDescription"] as? String == error.localizedDescription)
    #expect((error as NSError).userInfo["CKErrorDescription"] as? String != nil)
  }

  @Test("A partial failure prints the error of each item, but not those of the rest of a batch")
  func printsItems() {
    let zoneID = CKRecordZone.ID(zoneName: "Notes")
    func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }
    let error = CKError(
      .partialFailure,
      userInfo: [
        CKPartialErrorsByItemIDKey: [
          id("b"): CKError(.unknownItem), id("a"): CKError(.zoneNotFound),
          id("c"): CKError(.batchRequestFailed), id("d"): CKError(.batchRequestFailed),
        ]
      ])
    #expect(
      "\(error)" == """
        <CKError: "Partial Failure" (2); partial errors: {
        \ta:(Notes:__defaultOwner__) = <CKError: "Zone Not Found" (26)>
        \tb:(Notes:__defaultOwner__) = <CKError: "Unknown Item" (11)>
        \t... 2 "Batch Request Failed" CKErrors omitted ...
        }>
        """)
  }

  @Test("An error without a description has the text of Apple's Foundation, by every way to it")
  func withoutDescription() {
    for code in (1...37).compactMap({ CKError.Code(rawValue: $0) }) {
      let error: any Error = CKError(code)
      let text = "The operation couldn’t be completed. (CKErrorDomain error \(code.rawValue).)"
      #expect(error.localizedDescription == text)
      #expect((error as NSError).localizedDescription == text)
      #expect((error as? CKError)?.localizedDescription == text)
      #expect((error as? CKError)?.userInfo.isEmpty == true)
    }
    let error = CKError(
      .zoneBusy, userInfo: [NSLocalizedFailureReasonErrorKey: "The zone is busy."])
    #expect(error.localizedDescription == "The operation couldn’t be completed. The zone is busy.")
  }
}
