// The enumerations of C belong to this package.
// swift-format-ignore-file: AvoidRetroactiveConformances

public import CCloudKitEnumerations

/// An enumeration of C of which every number is a value.
///
/// The enumerations do not conform to `CustomStringConvertible`, because Apple's do not: apps add
/// the conformance with texts of their own.
package protocol OpenEnumeration: RawRepresentable, CustomReflectable
where RawValue: BinaryInteger {
  /// The name of the case. For a value without a name, it has the number, such as
  /// `CKErrorCode(rawValue: 99)`.
  var caseName: String { get }
}

extension OpenEnumeration {
  /// The number of the value. Swift on Linux would print the name of the type in C alone.
  public var customMirror: Mirror {
    Mirror(self, children: ["rawValue": rawValue], displayStyle: .struct)
  }

  /// Makes the value of a number, which may be one without a name.
  init(number: RawValue) {
    // The initializer never returns nil: it only changes the type of the number.
    self.init(rawValue: number)!
  }

  fileprivate func name(from first: Int, _ names: [String?]) -> String {
    if let number = Int(exactly: rawValue), number >= first, number - first < names.count,
      let name = names[number - first]
    {
      return name
    }
    return "CK\("\(Self.self)".dropFirst("Petrel".count))(rawValue: \(rawValue))"
  }
}

extension DefaultStringInterpolation {
  mutating func appendInterpolation<Enumeration: OpenEnumeration>(_ value: Enumeration) {
    appendInterpolation(value.caseName)
  }
}

extension CKErrorCode: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
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

extension CKAccountStatus: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(
      from: 0,
      [
        "couldNotDetermine", "available", "restricted", "noAccount", "temporarilyUnavailable",
      ])
  }
}

extension CKApplicationPermissionStatus: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(from: 0, ["initialState", "couldNotComplete", "denied", "granted"])
  }
}

extension CKDatabaseScope: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(from: 0, ["unknown", "public", "private", "shared"])
  }
}

extension CKSubscriptionType: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(from: 1, ["query", "recordZone", "database"])
  }
}

extension CKNotificationType: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(from: 1, ["query", "recordZone", "readNotification", "database"])
  }
}

extension CKQueryNotificationReason: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(from: 0, ["unknown", "recordCreated", "recordUpdated", "recordDeleted"])
  }
}

extension CKReferenceAction: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(from: 0, ["none", "deleteSelf"])
  }
}

extension CKRecordZoneEncryptionScope: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(from: 0, ["perRecord", "perZone"])
  }
}

extension CKRecordSavePolicy: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(from: 0, ["ifServerRecordUnchanged", "changedKeys", "allKeys"])
  }
}

extension CKOperationGroupTransferSize: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(
      from: 0,
      [
        "unknown", "kilobytes", "megabytes", "tensOfMegabytes", "hundredsOfMegabytes", "gigabytes",
        "tensOfGigabytes", "hundredsOfGigabytes",
      ])
  }
}

extension CKShareParticipantAcceptanceStatus: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(from: 0, ["unknown", "pending", "accepted", "removed"])
  }
}

extension CKShareParticipantPermission: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(from: 0, ["unknown", "none", "readOnly", "readWrite"])
  }
}

extension CKShareParticipantRole: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(from: 0, ["unknown", "owner", "administrator", "privateUser", "publicUser"])
  }
}

extension CKShareParticipantType: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(from: 0, ["unknown", "owner", nil, "privateUser", "publicUser"])
  }
}

extension CKSyncEngineEventType: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
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

extension CKSyncEngineAccountChangeType: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(from: 0, ["signIn", "signOut", "switchAccounts"])
  }
}

extension CKSyncEngineZoneDeletionReason: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(from: 0, ["deleted", "purged", "encryptedDataReset"])
  }
}

extension CKSyncEngineSyncReason: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(from: 0, ["scheduled", "manual"])
  }
}

extension CKSyncEnginePendingRecordZoneChangeType: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(from: 0, ["saveRecord", "deleteRecord"])
  }
}

extension CKSyncEnginePendingDatabaseChangeType: OpenEnumeration, @retroactive CustomReflectable {
  package var caseName: String {
    name(from: 0, ["saveZone", "deleteZone"])
  }
}
