import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Takes ids of a sequence in blocks from the table id_sequences, as TopCoder's ID Generator does, and prints them. */
public class Invoices {
  private final Connection connection;
  private final String name;
  private long next;
  private long left;

  Invoices(Connection connection, String name) throws SQLException {
    this.connection = connection;
    this.name = name;
    connection.setAutoCommit(false);
  }

  long nextId() throws SQLException {
    if (left == 0) takeBlock();
    left--;
    return next++;
  }

  /** The row stays locked until the commit, so that nobody else gets this block. */
  private void takeBlock() throws SQLException {
    String select = "SELECT next_block_start, block_size FROM id_sequences WHERE name = ? AND exhausted = 0 FOR UPDATE";
    String update = "UPDATE id_sequences SET next_block_start = next_block_start + block_size WHERE name = ?";
    try (PreparedStatement read = connection.prepareStatement(select);
        PreparedStatement write = connection.prepareStatement(update)) {
      read.setString(1, name);
      try (ResultSet row = read.executeQuery()) {
        if (!row.next()) throw new SQLException("there is no sequence " + name + ", or it is exhausted");
        next = row.getLong(1);
        left = row.getLong(2);
      }
      write.setString(1, name);
      write.executeUpdate();
      connection.commit();
    } catch (SQLException error) {
      left = 0;
      connection.rollback();
      throw error;
    }
  }

  public static void main(String[] args) throws SQLException {
    int count = Integer.parseInt(args[0]);
    try (Connection connection = DriverManager.getConnection(System.getenv("JDBC_URL"))) {
      Invoices invoices = new Invoices(connection, "invoices");
      for (int i = 0; i < count; i++) System.out.println(invoices.nextId());
    }
  }
}
