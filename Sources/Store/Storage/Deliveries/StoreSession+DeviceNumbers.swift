extension StoreSession {
  /// Gives a token a number, unless it has one.
  func numberDevice(_ token: String) throws {
    if try keepDeviceNumber(of: token) { return }
    try connection.run(
      "INSERT INTO device_numbers (device, token) VALUES ($1, $2) ON CONFLICT (token) DO NOTHING",
      [.integer(try CounterTable(session: self).next("device")), .text(token)])
  }

  /// Forgets the number of a token that is no device's, and was none's for as long as deliveries are kept.
  func dropDeviceNumber(of token: String) throws {
    // Who is about to register the token is waited for, so that the next statement sees the device.
    guard try keepDeviceNumber(of: token) else { return }
    try connection.run(
      """
      DELETE FROM device_numbers WHERE token = $1
        AND NOT EXISTS (
          SELECT 1 FROM device_tokens
          WHERE kind IN ('apns', 'webPush', 'webhook') AND device_tokens.token = $1)
        AND NOT EXISTS (SELECT 1 FROM gone_devices WHERE gone_devices.token = $1)
      """, [.text(token)])
  }

  /// Keeps others from dropping a token's number, or from giving it to a device, until the transaction
  /// ends; false when it has none.
  private func keepDeviceNumber(of token: String) throws -> Bool {
    try connection.run("UPDATE device_numbers SET token = $1 WHERE token = $1", [.text(token)]) > 0
  }
}
