import CloudKitModel

/// The body of `assets/upload`: it asks for URLs to which the client uploads files.
///
/// ```
/// { "tokens": [ { "recordName": "n-1", "recordType": "Note", "fieldName": "photo" } ] }
/// ```
public struct UploadAssetsRequest: Sendable, Hashable {
  /// A field for which the client will upload a file.
  public struct Token: Sendable, Hashable {
    /// The name of the record. nil means a new record, for which the server makes a name.
    public var recordName: String?
    /// The type of the record.
    public var recordType: String
    /// The name of the field.
    public var fieldName: String

    /// Creates the description of a field.
    public init(recordName: String?, recordType: String, fieldName: String) {
      self.recordName = recordName
      self.recordType = recordType
      self.fieldName = fieldName
    }
  }

  /// The zone of the records.
  public var zoneID: ZoneID
  /// The fields, 1 to `ServiceLimits.assetsPerRequest`.
  public var tokens: [Token]

  /// Creates a request.
  public init(zoneID: ZoneID, tokens: [Token]) {
    self.zoneID = zoneID
    self.tokens = tokens
  }
}

extension UploadAssetsRequest: Message, MessageObject {
  package static let blank = UploadAssetsRequest(zoneID: .default, tokens: [])

  package var approximateSize: Int { 128 * (tokens.count + 1) }

  /// Passes the members to the coder. A request without a zone means the default zone.
  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.written("zoneID", &zoneID)
    try coder.list("tokens", &tokens, count: 1...ServiceLimits.assetsPerRequest)
  }
}

extension UploadAssetsRequest.Token: MessageObject {
  package static let blank = UploadAssetsRequest.Token(
    recordName: nil, recordType: "", fieldName: "")

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.optional("recordName", &recordName, "If it is missing, the server creates one.")
    try coder.required("recordType", &recordType, .name)
    try coder.required("fieldName", &fieldName, .name)
    let token = self
    try coder.check(nil) { () throws(ModelError) in
      try Identifier.validateRecordType(token.recordType)
      try Identifier.validateFieldName(token.fieldName)
    }
  }
}

/// The answer of `assets/upload`.
///
/// ```
/// { "tokens": [ { "recordName": "n-1", "fieldName": "photo", "url": "https://…" } ] }
/// ```
public struct UploadAssetsResponse: Sendable, Hashable {
  /// The URL for the file of one field.
  public struct Token: Sendable, Hashable {
    /// The name of the record, which the server made if the request had none.
    public var recordName: String
    /// The name of the field.
    public var fieldName: String
    /// The URL to which the client posts the bytes of the file. The upload must begin within
    /// `ServiceLimits.uploadURLLifetime` seconds.
    public var url: String

    /// Creates an element of the answer.
    public init(recordName: String, fieldName: String, url: String) {
      self.recordName = recordName
      self.fieldName = fieldName
      self.url = url
    }
  }

  /// The URLs, in the order of the request.
  public var tokens: [Token]

  /// Creates an answer.
  public init(tokens: [Token]) {
    self.tokens = tokens
  }
}

extension UploadAssetsResponse: Message, MessageObject {
  package static let blank = UploadAssetsResponse(tokens: [])

  package var approximateSize: Int { 256 * (tokens.count + 1) }

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("tokens", &tokens)
  }
}

extension UploadAssetsResponse.Token: MessageObject {
  package static let blank = UploadAssetsResponse.Token(recordName: "", fieldName: "", url: "")

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("recordName", &recordName)
    try coder.required("fieldName", &fieldName)
    try coder.required("url", &url)
  }
}

/// The answer of an upload URL: the asset that the client saves as the field's value.
///
/// ```
/// { "singleFile": { "fileChecksum": "…", "size": 1024, "receipt": "…" } }
/// ```
public struct UploadedAssetResponse: Sendable, Hashable {
  /// The asset with its receipt.
  public var asset: Asset

  /// Creates an answer.
  public init(asset: Asset) {
    self.asset = asset
  }
}

extension UploadedAssetResponse: Message, MessageObject {
  package static let blank = UploadedAssetResponse(asset: .blank)

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("singleFile", &asset, "The value to save in the field.")
  }
}

/// The body of `assets/rereference`: it asks for receipts of files that are already in records. A
/// receipt is a text with which the client can save the same file in another record.
///
/// ```
/// { "assets": [ { "recordName": "n-1", "fieldName": "photo" } ] }
/// ```
public struct RereferenceAssetsRequest: Sendable, Hashable {
  /// A field that contains a file.
  public struct Place: Sendable, Hashable {
    /// The name of the record.
    public var recordName: String
    /// The name of the field.
    public var fieldName: String

    /// Creates the description of a field.
    public init(recordName: String, fieldName: String) {
      self.recordName = recordName
      self.fieldName = fieldName
    }
  }

  /// The zone of the records.
  public var zoneID: ZoneID
  /// The fields, 1 to `ServiceLimits.assetsPerRequest`. When one of them fails, the whole request
  /// fails.
  public var assets: [Place]

  /// Creates a request.
  public init(zoneID: ZoneID, assets: [Place]) {
    self.zoneID = zoneID
    self.assets = assets
  }
}

extension RereferenceAssetsRequest: Message, MessageObject {
  package static let blank = RereferenceAssetsRequest(zoneID: .default, assets: [])

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.written("zoneID", &zoneID)
    try coder.list("assets", &assets, count: 1...ServiceLimits.assetsPerRequest)
  }
}

extension RereferenceAssetsRequest.Place: MessageObject {
  package static let blank = RereferenceAssetsRequest.Place(recordName: "", fieldName: "")

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("recordName", &recordName)
    try coder.required("fieldName", &fieldName)
  }
}

/// The answer of `assets/rereference`.
public struct RereferenceAssetsResponse: Sendable, Hashable {
  /// The assets with their receipts, in the order of the request.
  public var assets: [Asset]

  /// Creates an answer.
  public init(assets: [Asset]) {
    self.assets = assets
  }
}

extension RereferenceAssetsResponse: Message, MessageObject {
  package static let blank = RereferenceAssetsResponse(assets: [])

  package var approximateSize: Int { 256 * (assets.count + 1) }

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("assets", &assets)
  }
}
