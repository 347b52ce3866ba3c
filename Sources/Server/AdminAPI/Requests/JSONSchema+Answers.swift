import CloudKitModel
import JSONCoding
import Storage
import StoreModel

/// The shapes of what the admin API answers, by the names that its description has for them.
extension JSONSchema {
  /// An answer with a list and the place of its next page.
  static func page(_ name: String, of element: JSONSchema) -> JSONSchema {
    .object([name: .list(element), "continuation?": .text])
  }

  private static let environment = word(ContainerEnvironment.allCases.map(\.rawValue))
  private static let database = word(DatabaseScope.allCases.map(\.pathComponent))

  static let adminKey = object(["identifier": .text, "label": .text]).named("AdminKey")

  static let container = object(["container": .text, "environments": .list(environment)])
    .named("Container")

  static let databaseSummary = object([
    "database": database, "user?": .text, "userName?": .text, "bytes?": .count,
  ]).named("Database")

  static let server = object([
    "id": .count, "description": .text, "secondsLeft": .number, "leasedDatabases": .count,
    "pendingWakeUps": .count,
  ]).named("Server")

  static let partition = object([
    "parts": .count, "nextParts?": .count,
    "servers": .list(object(["part": .count, "id?": .count, "description?": .text])),
  ]).named("Partition")

  static let zone = object([
    "zoneName": .text, "ownerRecordName?": .text, "isDefault": .bool, "syncToken?": .text,
  ]).named("ZoneEntry")

  private static let field = object(["name": .text, "type": .text, "indexes?": .list(.text)])
    .named("Field")

  static let recordType = object([
    "recordType": .text, "fields": .list(field), "systemFields": .list(field),
    "grants": .map(.list(.text)),
  ]).named("RecordType")

  private static let indexWorkMembers: [String: JSONSchema] = [
    "recordType": .text, "field": .text, "phase": word(["clearing", "building"]), "done": .count,
    "total?": .count,
  ]

  static let indexWork = object(indexWorkMembers).named("IndexWork")

  /// The same, of any container.
  static let placedIndexWork = object(
    indexWorkMembers.merging(
      ["container": .text, "environment": environment, "text": .text]) { $1 }
  ).named("PlacedIndexWork")

  static let schema = object([
    "recordTypes": .list(recordType), "subscriptionTypes": .list(.text), "roles?": .list(.text),
    "indexWork": .list(indexWork),
    "text": .text,
  ]).named("Schema")

  static let schemaOutcome = object(["changes?": .list(.text), "refusals?": .list(.text)])
    .named("SchemaOutcome")

  /// What is in a schema, and for a container what an import would do.
  static let schemaReport = object([
    "recordTypes": .count, "fields": .count, "roles": .count, "changes?": .list(.text),
    "refusals?": .list(.text),
  ]).named("SchemaReport")

  static let role = object(["role": .text, "members": .list(.text)]).named("Role")

  static let roleMember = object(["role": .text, "member": .text, "userRecordName": .text])
    .named("RoleMember")

  static let subscription = object([
    "subscriber": .text, "userName?": .text, "predicate?": .text,
    "subscription": Subscription.schema(in: .answers),
  ]).named("SubscriptionEntry")

  private static let userMembers: [String: JSONSchema] = [
    "name": .text, "userRecordName": .text, "created": .time, "emailAddress?": .text,
    "phoneNumber?": .text, "fullName?": .text, "isBeingDeleted?": .bool,
  ]

  static let user = object(userMembers).named("User")

  static let userWithToken = object(userMembers.merging(["token": .text]) { $1 })
    .named("UserWithToken")

  static let userDeletion = object([
    "identifier": .text, "name?": .text, "userRecordName?": .text,
    "publicRecords": word(UserDeletion.PublicRecords.allCases.map(\.rawValue)),
    "stage": word(UserDeletion.Stage.allCases.map { "\($0)" }), "stageNumber": .count,
    "stages": .count, "done": .count, "began": .time,
  ]).named("UserDeletion")

  private static let placeMembers: [String: JSONSchema] = [
    "container": .text, "environment": environment,
  ]

  static let userHoldings = object([
    "passwordChanged?": .time,
    "identities": .list(object(["issuer": .text, "subject": .text, "created": .time])),
    "tokens": .list(
      object([
        "container?": .text, "environment?": environment, "created": .time, "expires": .time,
      ])),
    "roles": .list(object(placeMembers.merging(["role": .text]) { $1 })),
    "permissions": .list(
      object(placeMembers.merging(["permission": .text, "status": .text]) { $1 })),
  ]).named("UserHoldings")

  static let device = object([
    "kind": word(DeviceToken.Kind.allCases.map(\.rawValue)), "token": .text, "container": .text,
    "environment": environment, "apnsEnvironment": word(APNsEnvironment.allCases.map(\.rawValue)),
    "user": .text, "userName?": .text, "deviceID?": .text, "registered": .time, "expires?": .time,
  ]).named("Device")

  static let key = object([
    "kind": word(["admin", "apiToken", "server"]), "identifier": .text, "name": .text,
    "created": .time, "revoked?": .time, "isCurrent?": .bool, "container?": .text,
    "environment?": environment, "origins?": .list(.text), "redirect?": .text, "user?": .text,
  ]).named("Key")

  private static let delivery = object([
    "number": .count, "kind?": .text, "token": .text, "state": .text, "attempts": .count,
    "reason?": .text, "updated": .time, "due?": .time,
  ]).named("Delivery")

  static let push = object([
    "key": .text, "notificationID": .text, "container": .text, "environment": environment,
    "database": database, "user?": .text, "subscriber": .text, "subscriberName?": .text,
    "subscriptionID": .text, "event": .text, "sequence": .count, "zoneName": .text,
    "zoneOwner?": .text, "recordName?": .text,
    "recordType?": .text, "changed": .time, "logged": .time, "deliveries": .list(delivery),
    "unsent?": .list(.text),
  ]).named("Push")

  static let overview = object([
    "time": .time,
    "changes": .object(["dispatched": .count, "waiting": .count, "failures": .count]),
    "matching": .object(["candidates": .count, "fired": .count]),
    "notifications": .object(["logged": .count, "withheld": .count]),
    "pushes": .object([
      "delivered": .count, "merged": .count, "retried": .count, "postponed": .count,
      "abandoned": .count, "expired": .count, "refused": .count, "underWay": .count,
      "waiting": .count, "restingRoutes": .count,
    ]),
    "indexes": .object(["count": .count, "bytes": .count]),
    "requests": .object([
      "served?": .count, "underWay?": .count, "connections?": .count, "failed": .count,
      "failedItems": .count, "errors": .map(.count),
    ]),
    "delay?": .object(["median": .number, "p99": .number]),
  ]).named("Overview")
}
