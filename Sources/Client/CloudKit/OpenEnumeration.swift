// The enumerations of C belong to this package.
// swift-format-ignore-file: AvoidRetroactiveConformances

public import CCloudKitEnumerations

/// An enumeration of C of which every number is a value.
///
/// The text of a value is the name of its case, as for enumerations of Swift. Swift on Linux would
/// print the name of the type in C alone.
protocol OpenEnumeration: RawRepresentable where RawValue: BinaryInteger {}

extension OpenEnumeration {
  /// Makes the value of a number, which may be one without a name.
  init(number: RawValue) {
    // The initializer never returns nil: it only changes the type of the number.
    self.init(rawValue: number)!
  }

  /// Returns the name of a value, from the names of consecutive raw values that begin with `first`.
  ///
  /// The text of a value without a name has its number, such as `CKErrorCode(rawValue: 99)`.
  fileprivate func name(from first: Int, _ names: [String?]) -> String {
    if let number = Int(exactly: rawValue), number >= first, number - first < names.count,
      let name = names[number - first]
    {
      return name
    }
    return "CK\("\(Self.self)".dropFirst("Petrel".count))(rawValue: \(rawValue))"
  }
}

extension CKErrorCode: OpenEnumeration, @retroactive CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    name(
      from: 1,
      [
        "internalError", "partialFailure", "networkUnavailable", "networkFailure", "badContainer",
        "serviceUnavailable", "requestRateLimited", "missingEntitlement", "notAuthenticated",
        "permissionFailure", "unknownItem", "invalidArguments", "resultsTruncated",
        "serverRecordChanged", "serverRejectedRequest", "assetFileNotFound", "assetFileModified",
        "incompatibleVersion", "constraintViolation", "operationCancelled", "changeTokenExpired",
        "batchRequestFailed", "zoneBusy", "badDatabase", "quotaExceeded", "zoneNotFound",
        "limitExceeded", "userDeletedZone", "tooManyParticipants", "alreadyShared",
        "referenceViolation", "managedAccountRestricted", "participantMayNeedVerification",
        "serverResponseLost", "assetNotAvailable", "accountTemporarilyUnavailable",
        "participantAlreadyInvited",
      ])
  }
}

extension CKAccountStatus: OpenEnumeration, @retroactive CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    name(
      from: 0,
      [
        "couldNotDetermine", "available", "restricted", "noAccount", "temporarilyUnavailable",
      ])
  }
}

extension CKApplicationPermissionStatus: OpenEnumeration, @retroactive CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    name(from: 0, ["initialState", "couldNotComplete", "denied", "granted"])
  }
}

extension CKDatabaseScope: OpenEnumeration, @retroactive CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    name(from: 0, ["unknown", "public", "private", "shared"])
  }
}

extension CKSubscriptionType: OpenEnumeration, @retroactive CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    name(from: 1, ["query", "recordZone", "database"])
  }
}

extension CKNotificationType: OpenEnumeration, @retroactive CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    name(from: 1, ["query", "recordZone", "readNotification", "database"])
  }
}

extension CKQueryNotificationReason: OpenEnumeration, @retroactive CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    name(from: 0, ["unknown", "recordCreated", "recordUpdated", "recordDeleted"])
  }
}

extension CKReferenceAction: OpenEnumeration, @retroactive CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    name(from: 0, ["none", "deleteSelf"])
  }
}

extension CKRecordZoneEncryptionScope: OpenEnumeration, @retroactive CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    name(from: 0, ["perRecord", "perZone"])
  }
}

extension CKRecordSavePolicy: OpenEnumeration, @retroactive CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    name(from: 0, ["ifServerRecordUnchanged", "changedKeys", "allKeys"])
  }
}

extension CKOperationGroupTransferSize: OpenEnumeration, @retroactive CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    name(
      from: 0,
      [
        "unknown", "kilobytes", "megabytes", "tensOfMegabytes", "hundredsOfMegabytes", "gigabytes",
        "tensOfGigabytes", "hundredsOfGigabytes",
      ])
  }
}

extension CKShareParticipantAcceptanceStatus: OpenEnumeration, @retroactive CustomStringConvertible
{
  /// The name of the case.
  public var description: String {
    name(from: 0, ["unknown", "pending", "accepted", "removed"])
  }
}

extension CKShareParticipantPermission: OpenEnumeration, @retroactive CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    name(from: 0, ["unknown", "none", "readOnly", "readWrite"])
  }
}

extension CKShareParticipantRole: OpenEnumeration, @retroactive CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    name(from: 0, ["unknown", "owner", "administrator", "privateUser", "publicUser"])
  }
}

extension CKShareParticipantType: OpenEnumeration, @retroactive CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    name(from: 0, ["unknown", "owner", nil, "privateUser", "publicUser"])
  }
}

extension CKSyncEngineEventType: OpenEnumeration, @retroactive CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    name(
      from: 0,
      [
        "stateUpdate", "accountChange", "fetchedDatabaseChanges", "fetchedRecordZoneChanges",
        "sentDatabaseChanges", "sentRecordZoneChanges", "willFetchChanges",
        "willFetchRecordZoneChanges", "didFetchRecordZoneChanges", "didFetchChanges",
        "willSendChanges", "didSendChanges",
      ])
  }
}

extension CKSyncEngineAccountChangeType: OpenEnumeration, @retroactive CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    name(from: 0, ["signIn", "signOut", "switchAccounts"])
  }
}

extension CKSyncEngineZoneDeletionReason: OpenEnumeration, @retroactive CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    name(from: 0, ["deleted", "purged", "encryptedDataReset"])
  }
}

extension CKSyncEngineSyncReason: OpenEnumeration, @retroactive CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    name(from: 0, ["scheduled", "manual"])
  }
}

extension CKSyncEnginePendingRecordZoneChangeType: OpenEnumeration,
  @retroactive CustomStringConvertible
{
  /// The name of the case.
  public var description: String {
    name(from: 0, ["saveRecord", "deleteRecord"])
  }
}

extension CKSyncEnginePendingDatabaseChangeType: OpenEnumeration,
  @retroactive CustomStringConvertible
{
  /// The name of the case.
  public var description: String {
    name(from: 0, ["saveZone", "deleteZone"])
  }
}
