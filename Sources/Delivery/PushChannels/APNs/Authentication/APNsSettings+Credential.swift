import Settings

/// The keys of the configuration that name a key or a certificate.
extension APNsSettings.Credential {
  static let table = SettingTable(
    Self.certificate(file: "", keyFile: ""), parts(keyFileDefault: "needed, or `certificateFile`"),
    rules: { reader, credential throws(ConfigurationError) in credential = try Self(reader) })

  /// Returns the declarations of the keys for an object of the configuration. ``init(_:)`` reads them.
  static func parts<Root>(keyFileDefault: String) -> [Setting<Root>] {
    [
      .part("teamID", .text, default: "needed with `keyFile`", "The team ID, ten characters."),
      .part("keyID", .text, default: "needed with `keyFile`", "The key ID, ten characters."),
      .part(
        "keyFile", .file(.secret), default: keyFileDefault,
        "The `.p8` file from Apple. The server signs the provider tokens of pushes with its key."),
      .part(
        "certificateFile", .file(.secret),
        "The app's certificate in PEM format, instead of a key."),
      .part(
        "certificateKeyFile", .file(.secret), default: "`certificateFile`",
        "The certificate's private key in PEM format, not encrypted."),
    ]
  }

  /// Whether an object has one of the keys.
  static func isGiven(_ reader: ConfigurationReader) -> Bool {
    table.keys.contains { reader.has($0.name) }
  }

  /// Reads either a key or a certificate. Throws if the settings name both or none of them.
  init(_ reader: ConfigurationReader) throws(ConfigurationError) {
    guard let certificate = reader.file("certificateFile") else {
      if reader.has("certificateKeyFile") {
        throw reader.mistake(
          "certificateKeyFile", "'certificateKeyFile' needs 'certificateFile' beside it")
      }
      guard reader.text("keyFile")?.isEmpty == false, let file = reader.file("keyFile") else {
        throw reader.mistake(
          "keyFile", "'keyFile' is missing (or 'certificateFile', for a certificate)")
      }
      self = .key(
        file: file, keyID: try reader.required("keyID"), teamID: try reader.required("teamID"))
      return
    }
    for key in ["keyFile", "keyID", "teamID"] where reader.has(key) {
      throw reader.mistake(
        key, "'\(key)' and 'certificateFile' exclude each other: APNs takes a key or a certificate")
    }
    self = .certificate(
      file: certificate, keyFile: reader.file("certificateKeyFile") ?? certificate)
  }
}
