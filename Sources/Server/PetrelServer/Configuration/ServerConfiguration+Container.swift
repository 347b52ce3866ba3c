import PushChannels
import Settings

extension ServerConfiguration {
  /// What is special about one container.
  public struct Container: Sendable, Hashable {
    /// Nil when no pushes leave the server for this container; the web courier works all the same.
    public var apns: APNsSettings?
    public var excludesOriginDevice: Bool
    public var refusesEqualSubscriptions: Bool
    public var deletionsCarryLastValues: Bool
    /// Nil when the server does not have the app's strings.
    public var strings: AppStringsSettings?

    public init(
      apns: APNsSettings? = nil, excludesOriginDevice: Bool = true,
      refusesEqualSubscriptions: Bool = false, deletionsCarryLastValues: Bool = false,
      strings: AppStringsSettings? = nil
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
          "strings", \.strings, AppStringsSettings.table, default: "webhooks get the keys alone",
          "The app's strings, for [localised alerts](webhooks.md#localised-alerts) in webhooks."),
        .object(
          "apns", \.apns, APNsSettings.table, default: "no pushes; the web courier works",
          "The key and the app that pushes go to."),
      ])
  }
}
