import CloudKitModel
import StoreModel

/// The devices to which a user's notifications in one database are pushed.
struct DispatchTarget {
  let user: UserOfDatabase
  var devices = 0..<0
  var logged = LogGrowth.Amount()
  /// The deliveries that may still be written within the user's limit.
  var left = Int.max
  /// Whether ``left`` was counted in the store. Otherwise it is an estimate, which is mostly too
  /// low.
  private var isCounted = false
  /// Devices without a channel on this server.
  private var passedOver = 0
  private var noWays: UnsentDeliveries = []

  init(user: UserOfDatabase) {
    self.user = user
  }

  mutating func passOver(_ device: DeviceToken) {
    passedOver += 1
    noWays.insert(UnsentDeliveries(noWayTo: device.kind, device.apnsEnvironment))
  }

  /// Reserves a delivery for each device except the origin, or none if they would exceed the limit
  /// of the user or of the server. If the estimate in `UserBacklogs` reaches the limit, the method
  /// counts the user's waiting deliveries, once in a transaction.
  ///
  /// - Returns: the reasons why some devices get no delivery.
  mutating func take(
    of change: Change, for dispatch: inout DispatchCompletion
  ) throws -> UnsentDeliveries {
    dispatch.outcome.unsent.notSetUp += passedOver
    guard let capacity = dispatch.capacity else { return noWays }
    let wanted = dispatch.outcome.devices[devices].count(where: { !$0.isOrigin(of: change) })
    guard wanted > 0 else { return noWays }
    guard wanted <= capacity.unwritten else {
      dispatch.outcome.unsent.serverLimit += wanted
      return noWays.union(.serverLimit)
    }
    if wanted > left, !isCounted {
      let waiting = try DeliveryTable(transaction: dispatch.transaction).owedCount(
        to: dispatch.outcome.deviceNumbers[devices], in: user.database,
        atMost: capacity.backlogs.limit)
      capacity.backlogs.set(waiting, for: user)
      left = capacity.backlogs.limit - waiting
      isCounted = true
    }
    guard wanted <= left else {
      dispatch.outcome.unsent.userLimit += wanted
      return noWays.union(.userLimit)
    }
    left -= wanted
    dispatch.capacity?.unwritten -= wanted
    capacity.backlogs.add(wanted, for: user)
    return noWays
  }
}
