import Foundation
import StringTables

extension ServerConfiguration {
  /// What is special about one container.
  public struct Container: Sendable, Hashable {
    /// Nil when no pushes leave the server for this container; the web courier works all the same.
    public var apns: APNs?
    public var excludesOriginDevice: Bool
    public var refusesEqualSubscriptions: Bool
    public var deletionsCarryLastValues: Bool
    /// Nil when the server does not have the app's strings.
    public var strings: Strings?

    public init(
      apns: APNs? = nil, excludesOriginDevice: Bool = true,
      refusesEqualSubscriptions: Bool = false, deletionsCarryLastValues: Bool = false,
      strings: Strings? = nil
    ) {
      self.apns = apns
      self.excludesOriginDevice = excludesOriginDevice
      self.refusesEqualSubscriptions = refusesEqualSubscriptions
      self.deletionsCarryLastValues = deletionsCarryLastValues
      self.strings = strings
    }

    static let settings = SettingTable(
      Container(),
      [
        .init(
          "excludesOriginDevice", \.excludesOriginDevice, .boolean,
          "Whether the device that made a change gets no push for it."),
        .init(
          "refusesEqualSubscriptions", \.refusesEqualSubscriptions, .boolean,
          "Whether a user's subscription that watches for the same as another one is refused."),
        .init(
          "deletionsCarryLastValues", \.deletionsCarryLastValues, .boolean,
          "Whether notifications of deletions carry the record's last values and type."),
        .object(
          "strings", \.strings, Strings.settings, default: "webhooks get the keys alone",
          "The app's strings, for [localised alerts](webhooks.md#localised-alerts) in webhooks."),
        .object(
          "apns", \.apns, APNs.settings, default: "no pushes; the web courier works",
          "The key and the app that pushes go to."),
      ])
  }

  /// The app's strings of one container, from which webhooks get the texts of localised alerts.
  public struct Strings: Sendable, Hashable {
    public var folder: URL
    public var languages: [String]

    public init(folder: URL, languages: [String] = []) {
      self.folder = folder
      self.languages = languages
    }

    static let settings = SettingTable(
      Strings(folder: URL(fileURLWithPath: "/")),
      [
        .init(
          "folder", \.folder, .folder, required: true,
          "The folder with `Localizable.xcstrings`, or with folders such as `en.lproj`."),
        .init(
          "languages", \.languages, .texts, default: "the development language",
          "The languages of the texts, such as `[\"de-AT\", \"en\"]`, the most wanted first."),
      ])

    /// - Throws: ``ConfigurationError`` naming the file, the line where it can, and the rule.
    func read(container: String) throws(ConfigurationError) -> PetrelStrings {
      do throws(PetrelStringsError) {
        return try PetrelStrings(contentsOf: folder, languages: languages)
      } catch {
        throw ConfigurationError("containers: \(container): strings: \(error)")
      }
    }
  }
}
