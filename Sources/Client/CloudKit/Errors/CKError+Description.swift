extension CKError {
  /// The description for people. It names the broken rule or the refused value, or repeats the
  /// reason that the server sent. An error without a description has the text that Foundation gives
  /// such errors on Apple's systems.
  public var localizedDescription: String {
    if let text = ownDescription { return text }
    let reason =
      _nsError.userInfo[NSLocalizedFailureReasonErrorKey] as? String
      ?? "(\(CKErrorDomain) error \(_nsError.code).)"
    return "The operation couldn’t be completed. \(reason)"
  }

  /// The values of the error by their keys, such as `CKErrorRetryAfterKey`.
  public var userInfo: [String: Any] { _nsError.userInfo }

  /// The values of ``userInfo`` with the ``localizedDescription``.
  ///
  /// Foundation on Linux makes an `NSError` from these values, and reads the text of an `any Error`
  /// from them.
  public var errorUserInfo: [String: Any] {
    userInfo.merging([NSLocalizedDescriptionKey: localizedDescription]) { own, _ in own }
  }

  private var ownDescription: String? {
    _nsError.userInfo[NSLocalizedDescriptionKey] as? String
  }
}

extension CKError: CustomStringConvertible {
  /// The name and number of the code, the reason, and the errors of the items, in the form in which
  /// Apple's framework prints its errors. An example is
  /// `<CKError: "Unknown Item" (11); server message = "the record does not exist">`.
  ///
  /// The form leaves out the addresses, the internal numbers and the identifiers of requests that
  /// Apple's framework prints too.
  public var description: String {
    let partialErrors = partialErrorsByItemID ?? [:]
    guard !partialErrors.isEmpty else { return "<\(summary)>" }
    let isOmitted = { (error: any Error) in (error as? CKError)?.code == .batchRequestFailed }
    var lines = partialErrors.filter { !isOmitted($0.value) }
      .map { "\t\(Self.name(ofItem: $0.key)) = \($0.value)\n" }.sorted()
    let omitted = partialErrors.count - lines.count
    if omitted > 0 {
      lines.append("\t... \(omitted) \"Batch Request Failed\" CKErrors omitted ...\n")
    }
    return "<\(summary); partial errors: {\n\(lines.joined())}>"
  }

  private var summary: String {
    var text = "CKError: \"\(code.words)\" (\(code.rawValue))"
    if let message = userInfo[Self.serverErrorDescriptionKey] as? String {
      text += "; server message = \"\(message)\""
    } else if let reason = ownDescription {
      text += "; \"\(reason)\""
    }
    if let seconds = retryAfterSeconds { text += "; Retry after \(seconds) seconds" }
    return text
  }

  /// The key of the reason that the server sent. Public code reads it under Apple's name.
  static let serverErrorDescriptionKey = "ServerErrorDescription"

  /// Returns the short name of an item, such as `note:(Notes:__defaultOwner__)` for a record.
  private static func name(ofItem id: AnyHashable) -> String {
    switch id.base {
    case let recordID as CKRecord.ID:
      "\(recordID.recordName):(\(name(ofItem: recordID.zoneID)))"
    case let zoneID as CKRecordZone.ID: "\(zoneID.zoneName):\(zoneID.ownerName)"
    case let other: "\(other)"
    }
  }
}

extension CKError.Code {
  /// The name of the case in words, such as `Unknown Item`; the number for a value without a name.
  fileprivate var words: String {
    let name = caseName
    guard name.allSatisfy(\.isLetter) else { return "\(rawValue)" }
    return name.prefix(1).uppercased()
      + name.dropFirst().reduce(into: "") { words, letter in
        words += letter.isUppercase ? " \(letter)" : "\(letter)"
      }
  }
}
